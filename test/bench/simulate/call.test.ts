import { expect, test } from 'vitest';
import { createClients } from '../../../bench/simulate/steps.ts';
import { createVirtualTime } from '../../../bench/simulate/virtual-time.ts';

const start = 1_000_000;

test('an attempt that is not answered in time is made again, and ends with the deadline', async () => {
  const time = createVirtualTime(start);
  const sentAt: number[] = [];
  const { open } = createClients(time, { send: () => void sentAt.push(time.now() - start) });
  const job = { token: 'token', random: () => 0, onAnswer: () => undefined };
  const { call } = open(job, { timeoutMs: 30_000, retries: 4 });
  const body = { path: 'a', ttl: '1h' };
  const outcome = call({ method: 'POST', target: '/v1/locks', body }, { deadline: start + 40_000 });
  await time.runUntil(start + 100_000);
  expect(sentAt).toEqual([0, 30_250]);
  await expect(outcome).resolves.toMatchObject({
    kind: 'given-up',
    mayBeDone: true,
    error: { failure: { kind: 'deadline', last: { kind: 'timeout', limitMs: 30_000 } } },
  });
});
