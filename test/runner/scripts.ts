import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '../support/runner/job.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A folder of small scripts that take the place of actions, removed when the test ends. */
export interface Scripts {
  readonly folder: string;
  /**
   * Writes a script. It can use `fs`, `env`, `say` (prints a line) and `told`, which waits for a signal of the test.
   */
  add(name: string, code: string): Promise<string>;
}

const prelude = `
import fs from 'node:fs';
const { env } = process;
const say = (text) => void fs.writeSync(1, text + '\\n');
const told = async (what) => {
  while (!fs.existsSync(env.RUNNER_TEMP + '/told-' + what)) await new Promise((resolve) => setTimeout(resolve, 5));
};
`;

/** Signals `told(what)` in a script. */
export const tell = (job: Job, what: string): Promise<void> => writeFile(join(job.folders.temp, `told-${what}`), '');

export async function temporaryScripts(): Promise<Scripts> {
  const folder = temporaryFolder();
  return {
    folder,
    async add(name, code) {
      const path = join(folder, `${name}.mjs`);
      await writeFile(path, prelude + code);
      return path;
    },
  };
}

/** An action file with these inputs. */
export async function temporaryActionFile(scripts: Scripts, inputs: string): Promise<string> {
  const path = join(scripts.folder, 'action.yml');
  await writeFile(
    path,
    `name: A test\ndescription: A test.\n${inputs}\nruns:\n  using: node24\n  main: main.mjs\n  post: post.mjs\n`,
  );
  return path;
}
