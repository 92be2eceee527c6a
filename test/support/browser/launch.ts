import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

const flags = [
  // All other names and addresses resolve to nothing, for pages and for the browser itself, and no proxy of the machine
  // is used. A request handler would see only the requests of pages, and disable the cache.
  `--host-resolver-rules=MAP * ~NOTFOUND, ${loopback.map((host) => `EXCLUDE ${host}`).join(', ')}`,
  '--no-proxy-server',
  // Rendering that does not depend on the screen and the font settings of a machine.
  '--disable-gpu',
  '--disable-lcd-text',
  '--font-render-hinting=none',
];

/** Redirects the profile data of a browser to a folder that is removed. */
const homeIn = (folder: string): NodeJS.ProcessEnv =>
  process.platform === 'linux'
    ? { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder }
    : {};

/** Starts a browser that can reach only this machine. */
export async function launchBrowser(program: string) {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-browser-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...homeIn(folder) }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const browser = await chromium
    .launch({
      executablePath: program,
      // Chromium's sandbox does not work for root, which runs the tests in most containers.
      chromiumSandbox: process.getuid?.() !== 0,
      args: flags,
      env,
      // A listener would keep this process from ending, and the browser ends with it anyway.
      handleSIGTERM: false,
    })
    .catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      const reason = `${program} does not start as a browser for tests. Is it a Chromium? CHROMIUM can name another.`;
      throw new Error(reason, { cause: error });
    });
  // After the listener of Playwright, which ends the browser: listeners run in the order of their registration.
  process.once('exit', removeFolder);
  return {
    browser,
    close: async () => {
      await browser.close();
      process.off('exit', removeFolder);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

type Found =
  | { readonly kind: 'found'; readonly program: string }
  /** The reason is a sentence. */
  | { readonly kind: 'missing'; readonly reason: string };

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
