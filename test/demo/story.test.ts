import { expect, test } from 'vitest';
import { startDemo } from './demo-process.ts';

test('the demo tells the whole story, and leaves nothing behind', async () => {
  const demo = await startDemo();
  expect(await demo.ended).toBe(0);
  await demo.expectNothingLeft();
  expect(demo.stderr()).toBe('');
  const story = demo.stdout();
  const said = (who: string): string =>
    story
      .split('\n')
      .filter((line) => line.startsWith(`  ${who} │ `))
      .join('\n');

  expect(said('release')).toMatch(
    /▼ Locked 2 paths in game-assets until .*\n.*Content\/Hero\.uasset .*\n.*Content\/Maps\/Arena\.umap /,
  );
  expect(said('release')).toMatch(/The sync of main in game-assets is queued, about 2,412 objects to receive\./);
  expect(said('release')).toMatch(/The sync is running, [\d,]+ of about 2,412 objects received\./);
  expect(said('release')).toMatch(
    /The branch main of game-assets is synced: succeeded after .*, 2,412 objects received\./,
  );
  expect(said('release')).toMatch(
    /▼ 2 locks in game-assets\.\n.*Hero\.uasset is held by release-bot until .*\n.*Arena\.umap is held by release-bot until /,
  );
  expect(said('nightly')).toMatch(/Content\/Maps\/Arena\.umap is held by release-bot until .* Waiting, 5 min left\./);
  expect(said('nightly')).toMatch(/▼ Locked Content\/Maps\/Arena\.umap in game-assets until .* after waiting for /);
  expect(said('release')).toMatch(/▼ Post Run .*\n.*▼ Released 2 locks at the end of the job\./);
  expect(said('nightly')).toMatch(/▼ Post Run .*\n.*▼ Released 1 lock at the end of the job\./);
  expect(
    said('webhook')
      .replaceAll(/ at [0-9a-f]{10}/g, ' at <commit>')
      .split('\n')
      .toSorted(),
  ).toEqual([
    '  webhook │ ✓ lock.released: Content/Hero.uasset, by release-bot (signature verified)',
    '  webhook │ ✓ lock.released: Content/Maps/Arena.umap, by nightly-bot (signature verified)',
    '  webhook │ ✓ lock.released: Content/Maps/Arena.umap, by release-bot (signature verified)',
    '  webhook │ ✓ sync.succeeded: main is at <commit> (signature verified)',
  ]);
  // It waits while the release job holds the map, and continues when that releases it.
  const end = story.indexOf('The end of the jobs');
  expect(story.indexOf('Waiting, 5 min left')).toBeLessThan(end);
  expect(story.indexOf('after waiting for')).toBeGreaterThan(end);
  expect(story).toContain(
    '✓ The map went from one job to the other, all webhook calls were verified, and nothing is locked any more.',
  );
  const summaries = story.slice(story.indexOf('The job summaries'));
  expect(summaries).toMatch(/Path +Result +Ends\n +─+ .*\n +Content\/Hero\.uasset +released /);
  expect(summaries).toMatch(/Content\/Maps\/Arena\.umap +░+█+ +waited .*, held /);

  expect(story).not.toContain('\u001b');
  expect(story).not.toMatch(/wsa_|whsec_/);
  expect(story).toContain('WORKSPACE_TOKEN: ***');
  expect(story).toContain('hook-secret: ***');
});
