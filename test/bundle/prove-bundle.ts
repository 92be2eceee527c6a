import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openJob } from '../support/runner/job.ts';
import { startSmallService } from '../support/small-service.ts';

/**
 * Runs main and post of a bundle as the runner does: an invalid input, then a lock and its release, which are separate
 * files. The bundler succeeds even if its output cannot be loaded.
 */
export async function proveBundle(folder: string): Promise<void> {
  const entries = { main: join(folder, 'index.js'), post: join(folder, 'post', 'index.js') };
  const service = await startSmallService();
  const job = await openJob();
  try {
    const wrong = await job.run({ ...entries, with: { operation: 'look' } });
    assert.equal(wrong.exitCode, 1, wrong.log);
    assert.match(wrong.annotations[0]?.message ?? '', /`operation`/, wrong.log);

    const connection = { 'base-url': service.baseUrl, token: 'wsa_secret', workspace: 'game' };
    const right = await job.run({ ...entries, with: { ...connection, operation: 'lock', path: 'a' } });
    assert.equal(right.conclusion, 'success', right.log);
    assert.equal(right.outputs['acquired'], 'true', right.log);

    for (const post of await job.post()) assert.equal(post.conclusion, 'success', post.log);
    const requests = service.requests.map(({ method, url }) => `${method} ${url}`);
    assert.deepEqual(requests, ['POST /v1/workspaces/game/locks', 'DELETE /v1/workspaces/game/locks/a']);
  } finally {
    await job.end();
    await service.close();
  }
}
