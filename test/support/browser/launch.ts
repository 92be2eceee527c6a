import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

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

/** Starts a browser that can reach only this machine. */
export async function launchBrowser(program: string): Promise<{ readonly browser: Browser; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-browser-'));
  const home = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder };
  const browser = await chromium.launch({
    executablePath: program,
    // Chromium's sandbox does not work for root, which runs the tests in most containers.
    chromiumSandbox: process.getuid?.() !== 0,
    args: flags,
    env: { PATH: process.env['PATH'] ?? '', ...home },
    // A listener would keep this process from ending, and the browser ends with it anyway.
    handleSIGTERM: false,
  });
  return {
    browser,
    close: async () => {
      await browser.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export const noBrowser = 'There is no Chromium on this machine; CHROMIUM can name one.';

/** The program of the browser of this machine. `.ci/install` looks for the same names. */
export function findBrowser(): string | undefined {
  const { CHROMIUM: named } = process.env;
  if (named) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const programs = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const onMac = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  // A file alone is not enough: on Ubuntu, `chromium-browser` may be a script that only says how to install it.
  const answers = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  return [...programs, ...onMac].find(answers);
}
