import { expect, test } from 'vitest';
import { runMain } from '../command/run-main.ts';
import { sharedService } from '../service/http/shared-service.ts';
import { sqlite } from '../support/databases.ts';

const service = sharedService(sqlite, { windowsPaths: true });

test('lock check finds a lock in another case, among many paths too, where Windows has one file', async () => {
  const { id, take } = await service.newWorkspace();
  await take('Content/Hero.uasset');
  const check = (...paths: readonly string[]) =>
    runMain(['lock', 'check', ...paths], {
      WORKSPACE_BASE_URL: `${service.baseUrl}/v1`,
      WORKSPACE_TOKEN: service.secret,
      WORKSPACE_ID: id,
    });
  const many = Array.from({ length: 20 }, (_, index) => `content/other-${index}`);
  for (const paths of [['content/hero.uasset'], ['CONTENT/hero.uasset', ...many]]) {
    expect((await check(...paths)).stdout).toContain(`${paths[0]} is held by you`);
  }
  expect((await check('content/heroes.uasset')).stdout).toContain('is free');
});
