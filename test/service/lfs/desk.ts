import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'vitest';
import { leaveOut } from '../../support/left-out.ts';
import { gitClient } from '../mirror/mirror-of.ts';

const hasClient = spawnSync('git', ['lfs', 'version']).status === 0;

/** Skips a test of the real client if that is not installed. */
export function needsClient(context: TestContext): void {
  if (!hasClient) leaveOut(context, 'There is no git-lfs on this machine: apt-get install git-lfs');
}

export interface Credential {
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

export interface DeskOptions {
  readonly folder: string;
  readonly name: string;
  /** The credentials that git finds in its credential helper. */
  readonly credentials: readonly Credential[];
}

export type Desk = Awaited<ReturnType<typeof setUpDesk>>;

/** A user's machine with a clone of `remote.git`: git and git-lfs with their own settings, as after their installation. */
export async function setUpDesk({ folder, name, credentials }: DeskOptions) {
  const client = await gitClient();
  const clone = join(client.folder, 'game');
  const stored = join(client.folder, 'credentials');
  const lines = credentials.map(({ host, username, password }) => `http://${username}:${password}@${host}\n`);
  await writeFile(stored, lines.join(''));
  await client.settings(
    `[user]\n name = ${name}\n email = ${name}@example.com\n[credential]\n helper = store --file ${stored}\n[init]\n defaultBranch = main\n`,
  );
  await client.git('lfs', 'install', '--skip-repo');
  await client.git('clone', '--quiet', join(folder, 'remote.git'), clone);
  const git = (...args: readonly string[]): Promise<string> => client.git('-C', clone, ...args);
  await git('lfs', 'install', '--local');
  return {
    clone,
    git,
    refused: (...args: readonly string[]): Promise<string> => client.refused('-C', clone, ...args),
    /** Writes a file in the clone and commits it. */
    async commit(path: string, content: string): Promise<void> {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      await writeFile(join(clone, path), content);
      await git('add', '--all');
      await git('commit', '--quiet', '--message', path);
    },
  };
}
