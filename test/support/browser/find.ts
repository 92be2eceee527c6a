import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Found =
  | { readonly kind: 'found'; readonly program: string }
  /** The reason is a sentence. */
  | { readonly kind: 'missing'; readonly reason: string };

/** The usual paths, preferred ones first. .ci/run looks for the same names on Linux. */
function candidates(): readonly string[] {
  switch (process.platform) {
    case 'win32':
      return [];
    case 'darwin':
      return ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
    default: {
      const folders = (process.env['PATH'] ?? '').split(delimiter);
      return ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
        folders.map((folder) => join(folder, name)),
      );
    }
  }
}

/** A file alone is not enough: on Ubuntu, `chromium-browser` may be a script that only says how to install it. */
function answers(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** The browser of this machine. */
export function findBrowser(): Found {
  const { CHROMIUM: named } = process.env;
  if (named !== undefined && named !== '') {
    if (!existsSync(named))
      throw new Error(`CHROMIUM is ${named}, and there is no such file. Name the program of a Chromium.`);
    return { kind: 'found', program: named };
  }
  const program = candidates().find((file) => existsSync(file) && answers(file));
  if (program !== undefined) return { kind: 'found', program };
  return { kind: 'missing', reason: 'There is no Chromium on this machine; CHROMIUM can name one.' };
}
