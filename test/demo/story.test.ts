import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type DemoProcess, startDemo } from './demo-process.ts';

let demo: DemoProcess;
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
  expect(await demo.ended, demo.stderr()).toBe(0);
  story = demo.stdout();
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

test('the release locks both paths, the nightly job waits, and a sync makes progress', () => {
  expect(said('release')).toMatch(/▼ Locked 2 paths in game-assets until .* Content\/Hero\.uasset .*Arena\.umap /);
  expect(said('release')).toMatch(/The sync is running, [1-9][\d,]* of about 2,412 objects received\./);
  expect(said('nightly')).toMatch(/Content\/Maps\/Arena\.umap is held by release-bot until .* Waiting, 5 min left\./);
  expect(said('webhook')).toMatch(/✓ sync\.succeeded: main is at [0-9a-f]{10}\b/);
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

test('a lock released by force is reported as lost by its job', () => {
  expectInOrder('Arena.umap: kept until ', ' lock release ', 'Arena.umap: lost, held by nobody');
  expect(said('console')).toMatch(/ --force --reason '[^']+' Released Content\/Maps\/Arena\.umap\. /);
  expect(said('webhook')).toContain('✓ lock.released: Content/Maps/Arena.umap, by force');
  expect(said('nightly')).toMatch(/Error: This job lost its lock on Content\/Maps\/Arena\.umap\. /);
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
  expect(demo.stderr()).toBe('');
});
