import { expect, test } from 'vitest';
import { errorsOf, everythingLeft, openScene } from './scene.ts';

const scene = openScene({ resolve: async () => ['93.184.215.14'] });
const url = 'https://ci.example.com/services/geheim';

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  [
    'a branch',
    { operation: 'sync', branch: 'a b' },
    /^branch: The name of a branch must not have a space .* \(POST \S+: 422 /,
  ],
  ['a type', { operation: 'lock', path: 'a', type: 'shared' }, /type: It must be exclusive.* \(POST \S+: 422 /],
  [
    'an address of a webhook',
    { operation: 'register-hook', 'hook-url': 'https://127.0.0.1/services/geheim?key=geheim' },
    /leads to a loopback address\./,
  ],
  ['a secret', { operation: 'register-hook', 'hook-url': url, 'hook-secret': 'geheim' }, /secret: .* \(POST \S+: 422 /],
  [
    'headers of a webhook',
    { operation: 'register-hook', 'hook-url': url, 'hook-options': '{"headers":{"host":"geheim.example"}}' },
    /headers.* \(POST \S+: 422 /,
  ],
])('reports the reason of the service for refusing %s, and no secret', async (_, inputs, message) => {
  const job = await scene.job({ workspace: await scene.service.workspace() });
  const result = await job.run({ with: inputs });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(errorsOf(result)).toEqual([expect.stringMatching(message)]);
  expect(await everythingLeft(job, result)).not.toContain('geheim');
});
