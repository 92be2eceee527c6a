import { expect, test } from 'vitest';
import { setUpDesk, whyNoClient } from '../service/lfs/desk.ts';
import { lfsOf } from '../service/lfs/lfs-of.ts';
import { createRepository } from '../support/git-repository.ts';
import { leaveOut } from '../support/left-out.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openScene } from './scene.ts';

const scene = openScene();
const hero = 'Content/Hero.uasset';

test('a job waits for the lock of an artist, gets it when she unlocks, and is then named to her as the holder', async (context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
  const folder = temporaryFolder();
  const workspace = await scene.service.workspace();
  const { address } = lfsOf(scene.service, workspace, undefined);
  const lfsconfig = `[lfs]\n\turl = ${scene.service.baseUrl}${address}\n`;
  createRepository(folder).commit({ branch: 'main', files: { '.lfsconfig': lfsconfig, [hero]: 'a hero' } });
  const { secret: password } = await scene.service.token({ name: 'ada', scopes: ['locks:write'] });
  const { host } = new URL(scene.service.baseUrl);
  const ada = await setUpDesk({ folder, name: 'ada', credentials: [{ host, username: 'ada', password }] });
  await ada.git('lfs', 'lock', hero);

  const job = await scene.job({ workspace, name: 'release-bot', run: { runId: '4711' } });
  const step = await job.step({ with: { operation: 'lock', path: hero, wait: '10m' } });
  await step.waitForLog('is held by ada');
  await ada.git('lfs', 'unlock', hero);
  expect(await step.finished).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });

  const refused = await ada.refused('lfs', 'lock', hero);
  expect(refused).toMatch(
    /held by release-bot until \S+, acquired from \S+\/actions\/runs\/4711\b.* It was acquired at /,
  );
  await job.post();
  expect(await ada.git('lfs', 'lock', hero)).toContain(`Locked ${hero}`);
});
