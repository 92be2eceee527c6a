import { expect, test } from 'vitest';
import { checkOut, errorsOf, everythingLeft, openScene } from './scene.ts';

const scene = openScene({ resolve: async () => ['93.184.215.14'] });
const url = 'https://ci.example.com/services/geheim';

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  [
    'a branch',
    { operation: 'sync', branch: 'a b' },
    /^branch: The name of a branch must not have a space .* \(POST \S+: 422 /,
  ],
  [
    'an address of a webhook',
    { operation: 'register-hook', 'hook-url': 'https://127.0.0.1/services/geheim?key=geheim' },
    /leads to an address that is not public\./,
  ],
  ['a secret', { operation: 'register-hook', 'hook-url': url, 'hook-secret': 'geheim' }, /secret: .* \(POST \S+: 422 /],
])('reports the reason of the service for refusing %s, and no secret', async (_, inputs, message) => {
  const job = await scene.job({ workspace: await scene.service.workspace() });
  const result = await job.run({ with: inputs });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(errorsOf(result)).toEqual([expect.stringMatching(message)]);
  expect(await everythingLeft(job, result)).not.toContain('geheim');
});

test('an unlock warns about a path that is neither a file nor a lock of the job, but not about a lock without a file', async () => {
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace });
  await checkOut(job, 'Content/Hero.uasset');
  await job.run({ with: { operation: 'lock', path: 'new.txt\nContent/Hero.uasset', glob: 'false' } });
  const wrong = await job.run({ with: { operation: 'unlock', path: 'content/hero.uasset' } });
  expect(wrong).toMatchObject({ conclusion: 'success', outputs: { status: 'absent' } });
  expect(errorsOf(wrong)).toEqual([expect.stringContaining('(did you mean "Content/Hero.uasset"?)')]);
  const right = await job.run({ with: { operation: 'unlock', path: 'new.txt' } });
  expect(right).toMatchObject({ conclusion: 'success', annotations: [], outputs: { released: '["new.txt"]' } });
  expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
});
