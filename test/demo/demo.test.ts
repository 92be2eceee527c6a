import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { endWithTests, startProcess } from '../support/started-process.ts';

const main = fileURLToPath(new URL('../../scripts/demo/main.ts', import.meta.url));

/** Returns the error as text, for example for a missing process. */
function captured(act: () => void): string {
  try {
    act();
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Starts the demo like npm, in its own process group and temporary folder. */
async function startDemo(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  atEnd: (cleanUp: () => Promise<void>) => void = onTestFinished,
) {
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'));
  const demo = startProcess([process.execPath, main, ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TEMP: folder, TMP: folder, ...environment },
    hasInput: true,
    detached: true,
  });
  const signalGroup = (name: NodeJS.Signals | 0): void => void process.kill(-demo.pid, name);
  const end = (): void => void captured(() => signalGroup('SIGKILL'));
  const forget = endWithTests(end);
  atEnd(async () => {
    end();
    forget();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    ...demo,
    /** Resolves when stdout matches. */
    shows: (pattern: RegExp) => demo.stdout.until((text) => pattern.exec(text)),
    /** Fails if a process or a file remains. */
    async expectNothingLeft(): Promise<void> {
      // An ended process leaves its group only after its parent, or the system, has reaped it.
      await expect.poll(() => captured(() => signalGroup(0))).toMatch(/ESRCH/);
      expect(await readdir(folder)).toEqual([]);
    },
  };
}

test('the demo ends everything it started when interrupted during a sync, a waiting job and a recording', async () => {
  const demo = await startDemo(['--quick', '--record']);
  await demo.shows(/release │ The sync is running/);
  demo.signal('SIGINT');
  expect(await demo.ended()).toBe(130);
  await demo.expectNothingLeft();
  expect(demo.stderr.text()).toBe('');
  expect(demo.stdout.text()).toMatch(/Stopped\. All processes have ended, and the temporary folder was removed\.\n$/);
});

test('the demo ends everything it started when its output is closed', async () => {
  const demo = await startDemo(['--keep']);
  await demo.shows(/Live dashboard/);
  demo.stdout.close();
  expect(await demo.ended()).toBe(0);
  await demo.expectNothingLeft();
  expect(demo.stderr.text()).toBe('');
});

test('the demo ends everything it started when it fails, and reports the reason', async () => {
  const demo = await startDemo([], { PATH: '' });
  expect(await demo.ended()).toBe(1);
  await demo.expectNothingLeft();
  expect(demo.stderr.text()).toBe(
    '\nThe demo failed. git was not found on the PATH. Install git and start the demo again.\n',
  );
});

let demo: Awaited<ReturnType<typeof startDemo>>;
let story: string;
let cast: string;
let picture: string;
/** Status codes of the sign-in link, used twice. */
const signedIn: number[] = [];

async function useLink(address: string): Promise<number> {
  const { origin, searchParams } = new URL(address);
  const { status } = await fetch(`${origin}/sign-in/link`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: searchParams,
  });
  return status;
}

beforeAll(async () => {
  const cleanUps: (() => Promise<void>)[] = [];
  demo = await startDemo(['--quick', '--record'], {}, (cleanUp) => cleanUps.push(cleanUp));
  const [, link = ''] = await demo.shows(/^(http\S+\/sign-in\?link=\S+)\n/m);
  signedIn.push(await useLink(link), await useLink(link));
  expect(await demo.ended(), demo.stderr.text()).toBe(0);
  story = demo.stdout.text();
  const [castFile = '', svgFile = ''] = [...story.matchAll(/Recorded: (\S+)/g)].map(([, file]) => file);
  [cast, picture] = await Promise.all([readFile(castFile, 'utf8'), readFile(svgFile, 'utf8')]);
  await rm(dirname(castFile), { recursive: true });
  return async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  };
});

/** All text of one party, without line breaks. */
const said = (who: string): string =>
  [...story.matchAll(new RegExp(`^  ${who} │ *(.*)$`, 'gm'))].map(([, text]) => text).join(' ');

/** Expects all texts in this order. */
function expectInOrder(...texts: readonly string[]): void {
  const places = texts.map((text) => story.indexOf(text));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
}

test('the dashboard URL and a sign-in link come first, and the link works once', () => {
  const [, origin = ''] = /^\nWorkspace Automation\n.*\n\n {2}Live dashboard: (\S+)\/\n.*\nhttp/.exec(story) ?? [];
  const [, link = ''] = /^(http\S+)\/sign-in\?/m.exec(story) ?? [];
  expect(new URL(link).origin).toBe(origin);
  expect(signedIn).toEqual([303, 403]);
});

test('after SIGKILL, the post-step of the killed job releases its locks, and the waiting job gets the file', () => {
  expectInOrder(
    'Waiting,',
    'console │ $ kill -KILL ',
    'both files are still locked.',
    'release │ ▼ Post Run ',
    'The post-step released both, ',
    'Arena.umap: kept until ',
  );
  const release = said('release');
  expect(release.slice(release.indexOf('Post Run'))).toMatch(/▼ Released 2 locks at the end of the job\./);
  for (const path of ['Hero.uasset', 'Maps/Arena.umap']) {
    expect(said('webhook')).toContain(`✓ lock.released: Content/${path}, by release-bot`);
  }
  expect(said('nightly')).toMatch(/▼ Locked Content\/Maps\/Arena\.umap in game-assets until .* after waiting for /);
});

test('the demo ends with a chart of all locks over time, within 80 columns', () => {
  expect(story).toMatch(
    /Hero\.uasset\n +release +█+ +held [\d.]+ s\n.*Arena\.umap\n +release +█+ +held .*\n +nightly +░+█+ +waited .* s, held .* s\n +1 *2 *3 *4\n\n( +\d +[\d.]+ s {2}.+\n){4} {2}✓ The service has ended/,
  );
  expect(story).toMatch(/ nightly loses the map by force\. Its check says: lost\.$/m);
  const widths = story.split('\n').filter((line) => line.length > 80 && !line.includes('Recorded: '));
  expect(widths).toEqual([]);
});

test('the output contains no secret except the sign-in link', () => {
  expect(story).not.toMatch(/wsa_|whsec_/);
  expect(said('release')).toContain('hook-secret: ***');
  expect(said('nightly')).toContain('WORKSPACE_TOKEN: ***');
  expect(cast).toContain('/sign-in?link=wsl_***');
  expect(cast + picture).not.toMatch(/(wsa_|wsl_|whsec_)\w/);
});

test('the recorded picture fetches and runs nothing', () => {
  const svg = picture.replace('xmlns="http://www.w3.org/2000/svg"', '');
  expect(svg).not.toMatch(/:\/\/|url\(|@import|<script|\son\w+=|href/);
  expect(svg.length).toBeLessThan(60_000);
});

test('the demo leaves nothing behind', async () => {
  await demo.expectNothingLeft();
  expect(demo.stderr.text()).toBe('');
});
