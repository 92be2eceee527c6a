import { execFile, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { gitAt } from './support/git-repository.ts';
import { ask } from './support/running-service.ts';
import { folderOfTests } from './support/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const onWindows = process.platform === 'win32';

/** As a person at a terminal has it, with this Node first: what npm sets for its own scripts stays out. */
function environment(): NodeJS.ProcessEnv {
  const ofScripts = /^(npm_(lifecycle|package|command|node)|npm_config_(local_prefix|global_prefix|prefix)$|INIT_CWD$)/;
  const kept = Object.entries(process.env).filter(([name]) => !/^WORKSPACE_SERVICE_|^DATABASE_URL$/.test(name));
  return {
    ...Object.fromEntries(kept.filter(([name]) => !ofScripts.test(name))),
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  };
}

const npm = (args: readonly string[], cwd: string) =>
  promisify(execFile)('npm', args, { cwd, env: environment(), shell: onWindows, timeout: 240_000 });

const folder = folderOfTests();
let tarball: string;
let files: string[];
let packedBytes: number;
let commit: string;

/** Packs a copy, because packing rebuilds, and other tests use the build. */
beforeAll(async () => {
  const copy = join(folder, 'copy');
  await mkdir(copy);
  const configuration = ['package.json', 'tsconfig.json'];
  const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'deploy'];
  for (const part of ['src', 'LICENSE', 'scripts', ...pages, ...configuration]) {
    await cp(join(root, part), join(copy, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
  gitAt(copy, 'init', '--quiet');
  gitAt(copy, 'add', 'scripts/compile.ts');
  gitAt(copy, 'commit', '--quiet', '--message', 'A commit');
  commit = gitAt(copy, 'rev-parse', '--short=12', 'HEAD').trim();
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], copy);
  const [packed]: { filename: string; size: number; files: { path: string }[] }[] = JSON.parse(stdout);
  tarball = join(folder, packed?.filename ?? '');
  packedBytes = packed?.size ?? Number.NaN;
  files = packed?.files.map(({ path }) => path).toSorted() ?? [];
});

test('the package holds the command, what it runs, the documentation, and nothing else', async () => {
  const named = ['LICENSE', 'README.md', 'build/workspace-service.mjs', 'package.json'];
  const documentation = (path: string): boolean =>
    /^(CHANGELOG|CONTRIBUTING|SECURITY)\.md$|^(docs|deploy)\/.+/.test(path);
  expect(files.filter((path) => !documentation(path))).toEqual(named.toSorted());
  expect(files.filter((path) => documentation(path) && /\.(ts|js)$/.test(path))).toEqual([]);
});

test('the package is a small download, without pictures of the pages', () => {
  expect(packedBytes).toBeLessThan(700_000);
  expect(files.filter((path) => path.endsWith('.png'))).toEqual([]);
});

test('the command is a small download in one file, which names the licenses of what it contains', async () => {
  const text = await readFile(join(root, 'build/workspace-service.mjs'), 'utf8');
  expect(gzipSync(text).length).toBeLessThan(600_000);
  for (const name of ['hono', 'pg', 'zod']) expect(text).toMatch(new RegExp(`\n${name}\n\n.*License`, 'i'));
});

function startWithNpx(place: string) {
  const args = ['--no-install', 'workspace-service', 'serve', '--dev', '--port', '0', '--data', join(place, 'data')];
  const command = spawn('npx', args, { cwd: place, env: environment(), shell: onWindows });
  let written = '';
  let log = '';
  command.stdout.setEncoding('utf8').on('data', (more: string) => {
    written += more;
  });
  command.stderr.setEncoding('utf8').on('data', (more: string) => {
    log += more;
  });
  const ended = new Promise<number | null>((resolve) => command.once('close', resolve));
  return {
    ended,
    async welcome(): Promise<string> {
      const isThere = () => written.includes('path: Content/Hero.uasset') && log.includes('"listening"');
      await expect.poll(() => isThere() || command.exitCode !== null, { timeout: 60_000 }).toBe(true);
      if (!isThere()) throw new Error(`It ended: ${written}${log}`);
      return written;
    },
    /** Tells the service itself: npx has a shell in between, which passes no signal on. */
    terminate() {
      const [, pid] = /"pid":(\d+)/.exec(log) ?? [];
      if (command.exitCode !== null) return;
      if (pid === undefined) command.kill();
      else process.kill(Number(pid), 'SIGTERM');
    },
  };
}

test('the installed package starts a service', async () => {
  const place = join(folder, 'installed');
  await mkdir(place);
  await npm(['install', '--omit=dev', '--no-audit', '--no-fund', '--offline', tarball], place);
  const service = startWithNpx(place);
  try {
    const written = await service.welcome();
    const [, base = ''] = /WORKSPACE_BASE_URL=(\S+)/.exec(written) ?? [];
    const [, token = ''] = /WORKSPACE_TOKEN=(\S+)/.exec(written) ?? [];
    expect((await ask(new URL(base).origin, 'GET', '/healthz')).status).toBe(200);
    const { status, body } = await ask(base, 'GET', '/workspaces', { token });
    expect(status).toBe(200);
    expect(body.workspaces).toMatchObject([{ id: 'sample' }]);
    // The client is part of the package, with what it needs.
    const names = ['WORKSPACE_BASE_URL', 'WORKSPACE_TOKEN', 'WORKSPACE_ID'];
    const values = names.map((name) => [name, new RegExp(`${name}=(\\S+)`).exec(written)?.[1]]);
    const env = { ...environment(), ...Object.fromEntries(values) };
    const take = ['--no-install', 'workspace-service', 'lock', 'take', 'Content/Hero.uasset'];
    const taken = await promisify(execFile)('npx', take, { cwd: place, env, shell: onWindows });
    expect(taken.stdout).toMatch(/^Locked Content\/Hero\.uasset until /);
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    expect(written).toContain(`workspace-service ${version} (revision ${commit}) listens on `);
    service.terminate();
    expect(await service.ended).toBe(0);
  } finally {
    service.terminate();
  }
});

test('npm run test:postgres runs every test of the service that can use PostgreSQL', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const given: readonly string[] = scripts['test:postgres'].split(' ');
  const missing = globSync('test/{service,fire,docs}/**/*.test.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !given.some((part) => part.startsWith('test/') && file.startsWith(part)))
    .filter((file) => /databaseKinds|postgresServer/.test(readFileSync(join(root, file), 'utf8')));
  expect(missing).toEqual([]);
});
