import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** For each folder, those that it imports, types included; for each of these, the files that do. */
function importsBetweenFolders(): Map<string, Map<string, string>> {
  const folders = new Map<string, Map<string, string>>();
  for (const file of globSync('src/**/*.{ts,js}', { cwd: root }).map((name) => name.replaceAll('\\', '/'))) {
    const source = readFileSync(join(root, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/(?:^(?:import|export)\b[^;']*|\bimport\()'(\.[^']+)'/gm)) {
      const imported = posix.join(dirname(file), name);
      const [from, to] = [dirname(file), dirname(imported)];
      if (from === to) continue;
      const targets = folders.get(from) ?? new Map<string, string>();
      folders.set(from, targets.set(to, `${file} imports ${imported}`));
    }
  }
  return folders;
}

/** The imports of a way from a folder back to itself. */
function circleFrom(folders: ReadonlyMap<string, ReadonlyMap<string, string>>, start: string): string[] | undefined {
  const seen = new Set<string>();
  function wayFrom(folder: string): string[] | undefined {
    for (const [to, reason] of folders.get(folder) ?? []) {
      if (to === start) return [reason];
      if (seen.has(to)) continue;
      seen.add(to);
      const rest = wayFrom(to);
      if (rest !== undefined) return [reason, ...rest];
    }
    return undefined;
  }
  return wayFrom(start);
}

test('no folder of src/ imports one that imports it, on whatever way, types included', () => {
  const folders = importsBetweenFolders();
  expect(folders.size).toBeGreaterThan(10);
  const circles = [...folders.keys()].map((folder) => circleFrom(folders, folder));
  expect(circles.find((circle) => circle !== undefined)).toBeUndefined();
});

test('only the action, the command over HTTP and src/locks itself import src/locks', () => {
  const importers = [...importsBetweenFolders()].filter(([, targets]) =>
    [...targets.keys()].some((folder) => /^src\/locks(\/|$)/.test(folder)),
  );
  const strangers = importers
    .map(([from]) => from)
    .filter((from) => !/^src\/(action|locks|service\/cli\/remote)(\/|$)/.test(from));
  expect(importers.length).toBeGreaterThan(5);
  expect(strangers).toEqual([]);
});

/** What the linter says, with our configuration, of a project that is made of these files. */
function lint(files: Readonly<Record<string, string>>): { readonly passed: boolean; readonly said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'walls-'));
  try {
    for (const name of ['biome.json', '.gitignore', '.ci/literal-imports.grit'])
      cpSync(join(root, name), join(folder, name));
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), `${code}\n`);
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const options = ['lint', '--error-on-warnings', '--max-diagnostics=none', '--reporter=github', '.'];
    const run = spawnSync(process.execPath, [biome, ...options], { cwd: folder, encoding: 'utf8' });
    return { passed: run.status === 0, said: run.stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ourFiles = 'Write where a file of ours lies: ./ or ../ and its name.';

/** One import across each wall, in a file of its own. */
const crossings: readonly (readonly [file: string, code: string, message: string])[] = [
  ['src/interface/a.ts', "import 'zod';", 'src/interface is pure: it imports nothing but itself.'],
  ['src/interface/b.ts', "export * from '../client/x.ts';", 'src/interface is pure: it imports nothing but itself.'],
  ['src/client/a.ts', "export * from '../service/x.ts';", 'src/client knows only src/interface.'],
  ['src/client/b.ts', "export type { B } from '../action/x.ts';", 'src/client knows only src/interface.'],
  ['src/client/c.ts', "import '@actions/github';", 'src/client knows nothing of GitHub.'],
  ['src/client/d.ts', "import '#client';", ourFiles],
  ['src/client/f.ts', "import '../locks/x.ts';", 'src/client knows only src/interface.'],
  ['src/locks/a.ts', "import '../action/x.ts';", 'src/locks knows only src/client and src/interface.'],
  ['src/locks/ledger/b.ts', "import '../../service/x.ts';", 'src/locks knows only src/client and src/interface.'],
  ['src/locks/c.ts', "import '@actions/core';", 'src/locks knows only src/client and src/interface.'],
  ['src/action/a.ts', "import type { A } from '../service/x.ts';", 'The action never imports the service.'],
  ['src/action/report/b.ts', "await import('../../service/x.ts');", 'The action never imports the service.'],
  ['src/action/main.ts', "import '../service/x.ts';", 'The action never imports the service.'],
  ['src/action/c.ts', "import '@actions/core';", 'Only the entry files and the reporting touch @actions/core.'],
  ['src/action/d.ts', "import 'workspace-automation/x';", ourFiles],
  ['src/service/http/a.ts', "import '../../client/x.ts';", 'The service never imports the action, nor its client.'],
  ['src/service/b.ts', "import '@actions/core';", 'The service never imports the action, nor its client.'],
  ['src/service/c.ts', "import '#service/x';", ourFiles],
  ['src/service/cli/d.ts', "import '../../client/x.ts';", 'The service never imports the action, nor its client.'],
  [
    'src/service/cli/remote/a.ts',
    "import '../../../action/x.ts';",
    'The command uses the client and src/locks, as the action does',
  ],
  ['demo/a.ts', "import '../src/service/x.ts';", 'The demo runs what is built: of src it knows only src/interface.'],
  ['src/client/e.ts', 'await import(`../service/x.ts`);', 'import() must have a literal name in plain quotes'],
  ['src/action/f.ts', "export type F = import('../service/x.ts').F;", 'Use an import declaration for a type'],
  ['src/service/g.ts', "export const g = require('../client/x.ts');", 'Use ESM imports instead of require.'],
  ['src/service/one.ts', "import type { Other } from './other.ts';\nexport type One = Other;", 'part of a cycle'],
  ['src/service/other.ts', "import type { One } from './one.ts';\nexport type Other = One;", 'part of a cycle'],
];

test('the check fails for an import across each wall, and for two files that import types of each other', () => {
  const { said } = lint(Object.fromEntries(crossings.map(([file, code]) => [file, code])));
  const lines = said.split('\n');
  const unseen = crossings.filter(
    ([file, , reason]) => !lines.some((line) => line.includes(file) && line.includes(reason)),
  );
  expect(unseen).toEqual([]);
});

test('the check passes what keeps to its side', () => {
  const { passed, said } = lint({
    'src/interface/ttl.ts': 'export const ttl = 1;',
    'src/client/x.ts':
      "export * from '../interface/ttl.ts';\nexport * from 'node:http';\nexport * from '@actions/http-client';",
    'src/locks/x.ts': "export * from '../client/x.ts';",
    'src/action/main.ts':
      "export * from '@actions/core';\nexport * from '../client/x.ts';\nexport * from '../locks/x.ts';",
    'src/service/cli/remote/x.ts': "export * from '../../../client/x.ts';\nexport * from '../../../locks/x.ts';",
    'src/service/http/x.ts': "export * from '../../interface/ttl.ts';\nexport * from 'hono';",
    'demo/x.ts': "export * from '../src/interface/ttl.ts';\nexport * from './support/runner/job.ts';",
  });
  expect(said).not.toContain('::error');
  expect(passed).toBe(true);
});

test('no file of src/ tells the check to look away from a wall', () => {
  for (const name of globSync('src/**/*.{ts,js}', { cwd: root })) {
    const silenced = readFileSync(join(root, name), 'utf8').matchAll(/biome-ignore\S*\s+([^\s:]+)/g);
    for (const [, rule] of silenced) {
      expect(rule, name).not.toMatch(/noRestrictedImports|noCommonJs|noImportCycles|plugin|^lint(\/style)?$/);
    }
  }
});
