import { expect, onTestFinished, test } from 'vitest';
import { leaveOut } from '../../support/left-out.ts';
import { programOf, startReverseProxy } from '../../support/reverse-proxy.ts';
import { locking, manyPaths } from '../scenarios/place.ts';
import { apacheWithoutEncodedSlashes } from './gateways.ts';
import { startKilledService } from './killed-service.ts';

/** Concurrent releases are rejected for encoded slashes in a different order each time. */
const rounds = 3;

test('releases thirty locks on nested paths at once behind an Apache that rejects %2F, and leaves none behind', async (context) => {
  if (programOf(apacheWithoutEncodedSlashes) === undefined) leaveOut(context, 'Apache is not installed.');
  const service = await startKilledService();
  onTestFinished(() => service.stop());
  const gateway = await startReverseProxy(apacheWithoutEncodedSlashes, { servicePort: service.port });
  onTestFinished(() => gateway.stop());
  const paths = manyPaths(30);
  for (let round = 0; round < rounds; round += 1) {
    const place = await service.place(gateway.port);
    const job = await place.job();
    const step = await job.run(locking(paths));
    expect(step, step.log).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await place.locks()).toHaveLength(paths.length);
    const [post] = await job.post();
    expect(post, post?.log).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(post?.log).not.toContain('already gone');
    expect(await place.locks()).toEqual([]);
  }
});
