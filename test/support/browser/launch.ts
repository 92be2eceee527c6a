import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
