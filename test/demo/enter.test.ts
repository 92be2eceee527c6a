import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { startDemo } from './demo-process.ts';

test('on a terminal, the demo keeps its dashboard until Enter, and then leaves nothing behind', async (context) => {
  // `script` of util-linux runs a command on its own terminal.
  if (process.platform !== 'linux') leaveOut(context, 'There is no program here that runs a command on a terminal.');
  const demo = await startDemo(['--quick'], {}, undefined, 'terminal');
  const [, dashboard = ''] = await demo.shows(/Live dashboard: (http:\S+)/);
  await demo.shows(/The dashboard stays until you press Enter\./);
  expect((await fetch(`${dashboard}sign-in`)).status).toBe(200);
  demo.type('\r');
  expect(await demo.ended).toBe(0);
  expect(demo.stdout()).toContain('its folder was removed');
  await demo.expectNothingLeft();
});
