import { expect, test } from 'vitest';
import { runMain } from '../command/run-main.ts';
import { sharedService } from '../service/http/shared-service.ts';
import { sqlite } from '../support/databases.ts';

const service = sharedService(sqlite, { windowsPaths: true });
const caseSensitive = sharedService(sqlite);

const checkOf =
  ({ baseUrl, secret }: typeof service, id: string) =>
  (...paths: readonly string[]) =>
    runMain(['lock', 'check', ...paths], {
      WORKSPACE_BASE_URL: `${baseUrl}/v1`,
      WORKSPACE_TOKEN: secret,
      WORKSPACE_ID: id,
    });

test('lock check finds a lock in another case, among many paths too, where Windows has one file', async () => {
  const { id, take } = await service.newWorkspace();
  await take('Content/Hero.uasset');
  const check = checkOf(service, id);
  const many = Array.from({ length: 20 }, (_, index) => `content/other-${index}`);
  for (const paths of [['content/hero.uasset'], ['CONTENT/hero.uasset', ...many]]) {
    expect((await check(...paths)).stdout).toContain(`${paths[0]} is held by you`);
  }
  expect((await check('content/heroes.uasset')).stdout).toContain('is free');
});

test.each([
  ['Content/Hero.uasset', 'content/hero.uasset'],
  ['content/hero.uasset', 'Content/Hero.uasset'],
])('lock check tells %s and %s apart where they are two files', async (locked, other) => {
  const { id, take } = await caseSensitive.newWorkspace();
  await take(locked);
  const { code, stdout } = await checkOf(caseSensitive, id)(locked, other);
  expect([code, stdout]).toEqual([1, expect.stringContaining(`${other} is free`)]);
});
