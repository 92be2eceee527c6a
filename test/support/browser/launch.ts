import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

const flags = [
  // Every name and every address but ours is one that does not exist, for pages as well as for the browser itself, and
  // no proxy of the machine is asked instead. A handler for requests would see those of pages alone, and turn the
  // cache off.
  `--host-resolver-rules=MAP * ~NOTFOUND, ${loopback.map((host) => `EXCLUDE ${host}`).join(', ')}`,
  '--no-proxy-server',
  // Pixels that do not hang on the screen and the fonts' settings of a machine.
  '--disable-gpu',
  '--disable-lcd-text',
  '--font-render-hinting=none',
];

/** What a browser would keep in the home of a person goes into a folder that is removed. */
const homeIn = (folder: string): NodeJS.ProcessEnv =>
  process.platform === 'linux'
    ? { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder }
    : {};

export interface LaunchedBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Starts a browser that reaches this machine and nothing else. */
export async function launchBrowser(program: string): Promise<LaunchedBrowser> {
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
      // Chromium's sandbox refuses to work for root, which is who runs the tests in most containers.
      chromiumSandbox: process.getuid?.() !== 0,
      args: flags,
      env,
      // Having a listener would keep this process from ending; and the browser ends with it in any case.
      handleSIGTERM: false,
    })
    .catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      const reason = `${program} does not start as a browser for tests. Is it a Chromium? CHROMIUM can name another.`;
      throw new Error(reason, { cause: error });
    });
  // After playwright's own, which ends the browser: listeners are called in the order in which they were added.
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
