import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createRepository, type Repository } from '../../support/git-repository.ts';
import type { Reply, RunningService } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine with a git that has no settings and never prompts. */
export async function gitClient() {
  const folder = temporaryFolder();
  const home = join(folder, 'home');
  await mkdir(home);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
  };
  const run = (...args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile('git', args, { cwd: folder, env, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });
  return {
    folder,
    run,
    /** Runs git, and returns its output. Throws if it fails. */
    async git(...args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await run(...args);
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stdout}${stderr}`);
      return stdout;
    },
    /** Runs git, expects it to fail, and returns its output. */
    async refused(...args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await run(...args);
      expect(code, stdout + stderr).not.toBe(0);
      return stderr + stdout;
    },
    async settings(text: string): Promise<void> {
      await writeFile(join(home, '.gitconfig'), text);
    },
  };
}

export interface Mirrored {
  readonly workspace: string;
  readonly remote: Repository;
  /** The clone URL, with the token as the password. */
  readonly url: string;
  readonly path: string;
  sync(branch?: string): Promise<void>;
}

/** The requests that contents:read allows, as in DESIGN; all others below the URL are rejected. */
export const mirrorRoutes = ['GET /v1/workspaces/:id/git/info/refs', 'POST /v1/workspaces/:id/git/git-upload-pack'];

let repositories = 0;

/** A workspace of a repository on this disk, before its first sync. */
export async function mirrored(service: RunningService, folder: string, token: string): Promise<Mirrored> {
  repositories += 1;
  const remote = createRepository(folder, `remote-${repositories}.git`);
  const workspace = await service.workspace(remote.path);
  const path = `/v1/workspaces/${workspace}/git`;
  return {
    workspace,
    remote,
    path,
    url: mirrorUrl(service, workspace, token),
    sync: (branch = 'main') => syncAt(service, workspace, token, branch),
  };
}

/** The clone URL, with the token as the password. */
export const mirrorUrl = ({ baseUrl }: Pick<RunningService, 'baseUrl'>, workspace: string, token: string): string =>
  `${baseUrl.replace('http://', `http://x:${token}@`)}/v1/workspaces/${workspace}/git`;

type Asked = Pick<RunningService, 'ask'>;

/** Syncs a branch, and waits for the end of the sync. */
export async function syncAt(service: Asked, workspace: string, token: string, branch: string): Promise<void> {
  const asked = await service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch } });
  expect(asked.status, asked.text).toBe(202);
  expect(await endOfSync(service, token, asked)).toMatchObject({ status: 'succeeded' });
}

/** Follows a sync from the response to its trigger to its end. */
export async function endOfSync({ ask }: Asked, token: string, { headers }: Reply): Promise<Reply['body']> {
  const sync = async () => (await ask('GET', headers.get('location') ?? '', { token })).body;
  while ((await sync()).finished_at === null) await sleep(20);
  return sync();
}

/** Packets of the protocol; `0000` is sent unchanged. */
const packets = (...lines: readonly string[]): string =>
  lines.map((line) => (line === '0000' ? line : (line.length + 4).toString(16).padStart(4, '0') + line)).join('');

/** Requests these objects from a mirror as git does. */
export const fetchAt = (service: Asked, { path }: Pick<Mirrored, 'path'>, token: string, ...ids: readonly string[]) =>
  service.ask('POST', `${path}/git-upload-pack`, {
    token,
    raw: fetchOf(...ids),
    headers: { 'content-type': uploadPackType, 'git-protocol': 'version=2' },
  });

export const uploadPackType = 'application/x-git-upload-pack-request';

/** A fetch that wants these objects, as after a list of branches. */
export const fetchOf = (...ids: readonly string[]): string =>
  packets(...ids.map((id, index) => `want ${id}${index === 0 ? ' no-progress' : ''}\n`), '0000', 'done\n');
