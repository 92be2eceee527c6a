import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export interface CountingGit {
  /** For the process whose use of git is counted. */
  readonly path: string;
  /** The commands that git was started with since the last call, such as `fetch`. */
  takeCommands(): Promise<readonly string[]>;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A folder for the front of the PATH, with a git that writes down each start of the real one. */
export async function countingGit(folder: string): Promise<CountingGit> {
  const bin = join(folder, 'bin');
  const file = join(folder, 'commands');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  await mkdir(bin, { recursive: true });
  await writeFile(file, '');
  const git = join(bin, 'git');
  await writeFile(git, `#!/bin/sh\necho "$1" >>${quoted(file)}\nexec ${quoted(real)} "$@"\n`);
  await chmod(git, 0o755);
  return {
    path: `${bin}${delimiter}${process.env['PATH']}`,
    async takeCommands() {
      const text = await readFile(file, 'utf8');
      await writeFile(file, '');
      return text.split('\n').filter((line) => line !== '');
    },
  };
}
