import { expect, test } from 'vitest';
import { ask } from '../support/running-service.ts';
import { startDemo } from './demo-process.ts';

test('with --keep, the demo explains how to use its service, which runs until Ctrl-C', async () => {
  const demo = await startDemo(['--keep', '--quick'], { FORCE_COLOR: '1' });
  const [, baseUrl = ''] = await demo.shows(/export WORKSPACE_BASE_URL=(\S+)\n/);
  const [, token = ''] = await demo.shows(/export WORKSPACE_TOKEN=(\S+)\n/);
  await demo.shows(
    /- uses: workspace-automation\/workspace-automation@main\n(.*\n)*.* {8}path: Content\/Hero\.uasset\n/,
  );
  expect(demo.stdout()).toContain('\u001b[');
  const [, instructions = ''] = demo.stdout().split('In a shell:');
  expect(instructions).toContain('curl -H "Authorization: Bearer $WORKSPACE_TOKEN"');
  expect(instructions.split('\n').filter((line) => line.length > 80)).toEqual([]);
  const lock = { path: 'Content/Hero.uasset', type: 'exclusive', ttl: '10m' };
  expect((await ask(baseUrl, 'POST', '/workspaces/game-assets/locks', { token, json: lock })).status).toBe(201);
  expect((await ask(baseUrl, 'DELETE', '/workspaces/game-assets/locks/Content%2FHero.uasset', { token })).status).toBe(
    204,
  );
  await demo.shows(/lock\.released: Content\/Hero\.uasset, by you/);
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
  await demo.expectNothingLeft();
});
