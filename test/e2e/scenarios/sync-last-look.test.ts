import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Fault, type Manner, once, startFaultProxy } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import { jobAt } from '../scene.ts';
import { type SyncService, startSyncService } from './model/sync-service.ts';

let service: SyncService;
beforeAll(async () => {
  service = await startSyncService();
});
afterAll(() => service?.stop());

const refusing = (status: number, seconds: number): Fault => ({
  kind: 'answer',
  status,
  headers: { 'retry-after': `${seconds}` },
});

/** Longer than a small sync takes on a busy machine, but shorter than the delay that the service asks for. */
const waitSeconds = 30;
/** The last request has a second or two of the wait, which a busy machine needs. */
const speed = 3;

const slowAnswers: readonly (readonly [string, Manner, readonly Fault[]])[] = [
  ['each response asks to wait longer than the wait', { retryAfter: 90 }, []],
  ['the first status request is refused with 429 for longer than the wait', {}, [refusing(429, 3_600)]],
  ['the first status request is refused with 503 for longer than the wait', {}, [refusing(503, 90)]],
  [
    'the first two status requests are refused with 429 for half of the wait',
    {},
    [refusing(429, 13), refusing(429, 13)],
  ],
];

test.each(slowAnswers)('notices a sync that ends within the wait even if %s', async (name, manner, faults) => {
  const branch = `last-look-${name.length}-${faults.length}`;
  service.remote.commit({ branch, files: { readme: name } });
  const proxy = await startFaultProxy(service.port, manner);
  onTestFinished(() => proxy.close());
  proxy.meet(once(({ method }) => method === 'GET', ...faults));
  const job = await jobAt(proxy.baseUrl, {
    env: { WORKSPACE_TOKEN: service.token, WORKSPACE_ID: service.workspace },
  });
  const result = await job.run({
    with: { operation: 'sync', branch, wait: `${waitSeconds}s` },
    env: { NODE_OPTIONS: fasterTime(speed) },
  });
  expect(result, result.log).toMatchObject({ conclusion: 'success', outputs: { status: 'succeeded', branch } });
  expect(await service.isMirrored(service.remote.head(branch))).toBe(true);
});
