import { execFile, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The reason to skip the tests of the real client; undefined if it is installed. */
export const whyNoClient: string | undefined =
  spawnSync('git', ['lfs', 'version']).status === 0
    ? undefined
    : 'There is no git-lfs on this machine: apt-get install git-lfs';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
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
  readonly credentials?: readonly Credential[];
  /** Clones with pointers instead of file contents. */
  readonly skipSmudge?: boolean;
}

/** A user's machine: git and git-lfs with their own settings, isolated from those of this machine. */
export interface Desk {
  readonly clone: string;
  /** Runs git in the clone, and does not throw if it fails. */
  run(...args: readonly string[]): Promise<Ran>;
  /** Runs git in the clone, and returns its output. Throws if it fails. */
  git(...args: readonly string[]): Promise<string>;
  /** Writes a file in the clone and commits it. */
  commit(path: string, content: string): Promise<void>;
}

export async function setUpDesk({ folder, name, credentials = [], skipSmudge = false }: DeskOptions): Promise<Desk> {
  const home = join(folder, name);
  const clone = join(home, 'game');
  const stored = join(home, 'credentials');
  await mkdir(home, { recursive: true });
  const lines = credentials.map(({ host, username, password }) => `http://${username}:${password}@${host}\n`);
  await writeFile(stored, lines.join(''));
  const settings = `[user]\n name = ${name}\n email = ${name}@example.com\n[credential]\n helper = store --file ${stored}\n[init]\n defaultBranch = main\n`;
  await writeFile(join(home, '.gitconfig'), settings);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
  };
  const run = (cwd: string, args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile('git', args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });
  async function git(cwd: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(cwd, args);
    if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }
  await git(home, ['lfs', 'install', '--skip-repo', ...(skipSmudge ? ['--skip-smudge'] : [])]);
  await git(home, ['clone', '--quiet', join(folder, 'remote.git'), clone]);
  await git(clone, ['lfs', 'install', '--local']);
  const desk: Desk = {
    clone,
    run: (...args) => run(clone, args),
    git: (...args) => git(clone, args),
    async commit(path, content) {
      await mkdir(join(clone, path, '..'), { recursive: true });
      await writeFile(join(clone, path), content);
      await desk.git('add', '--all');
      await desk.git('commit', '--quiet', '--message', path);
    },
  };
  return desk;
}
