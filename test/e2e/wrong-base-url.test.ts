import { expect, test } from 'vitest';
import { errorsOf, openScene } from './scene.ts';

const scene = openScene();

test('an error about an unknown route suggests checking the base URL', async () => {
  const job = await scene.job({ workspace: await scene.service.workspace() });
  const inputs = { operation: 'list-locks', 'base-url': `${scene.service.baseUrl}/wrong/v1` };
  expect(errorsOf(await job.run({ with: inputs }))).toEqual([
    expect.stringMatching(
      /^There is nothing at "\/wrong\/v1\/\S+"\. Check the base URL, whose path may be wrong, and the id of the workspace \(GET \S+: 404 Not Found, request id <request>\)\.$/,
    ),
  ]);
});
