import { expect, test } from 'vitest';
import { type Asked, createService } from '../../../bench/simulate/service.ts';
import type { ClientResponse } from '../../../src/client/response.ts';
import type { RateLimit } from '../../../src/service/http/rate-limit.ts';
import { randomOf } from '../../support/seed.ts';
import { createVirtualTime } from '../../support/virtual-time.ts';
import { someTimes } from './some-service.ts';

function started(instances = 1, rateLimit: RateLimit = null) {
  const time = createVirtualTime(0);
  const service = createService({ time, instances, times: someTimes, random: randomOf(1), rateLimit });
  return { time, service };
}

const take = (number: number) => ({ kind: 'take' as const, path: `${number}`, key: `${number}`, ttlMs: 60_000 });

/** Each asks again as soon as it is answered. */
function crowd({ service }: ReturnType<typeof started>, clients: number, asked: (number: number) => Asked) {
  const answered = { count: 0 };
  let number = 0;
  function ask(): void {
    number += 1;
    service.send(asked(number), 'token', () => {
      answered.count += 1;
      ask();
    });
  }
  for (let client = 0; client < clients; client += 1) ask();
  return answered;
}

test('a change is committed also while more requests arrive than can be read', async () => {
  const its = started();
  const reads = crowd(its, 500, () => ({ kind: 'page', locks: 10 }));
  const changes = crowd(its, 1, take);
  await its.time.runUntil(10_000);
  expect(reads.count).toBeGreaterThan(1_000);
  expect(changes.count).toBeGreaterThan(10);
});

test('who waits for a path is told when it is released, and those behind go on waiting', async () => {
  const { time, service } = started(2);
  const told: string[] = [];
  const ask = (asked: Asked, name: string): void =>
    service.send(asked, 'token', ({ status, headers }) =>
      told.push(`${name} ${status} ${headers['preference-applied']}`),
    );
  ask(take(1), 'taken');
  await time.runUntil(100);
  for (const name of ['first', 'second', 'third', 'fourth']) ask({ kind: 'wait', path: '1', seconds: 30 }, name);
  await time.runUntil(20_000);
  expect(told).toEqual(['taken 201 undefined']);
  ask({ kind: 'release', path: '1', match: '"lock_1"' }, 'released');
  await time.runUntil(20_100);
  // Each instance tells the first of its own.
  expect(told.slice(1)).toEqual(['released 204 undefined', 'first 200 wait=30', 'second 200 wait=30']);
  ask({ ...take(2), kind: 'take', path: '1' }, 'taken');
  await time.runUntil(31_000);
  expect(told.slice(4)).toEqual(['taken 201 undefined', 'third 200 wait=30', 'fourth 200 wait=30']);
});

test('a token that has spent its burst is refused more locks, is told so in each answer, and releases all the same', async () => {
  const { time, service } = started(1, { perSecond: 1, burst: 2 });
  const answers: ClientResponse[] = [];
  const send = (asked: Asked): void => service.send(asked, 'token', (response) => answers.push(response));
  for (const number of [1, 2, 3]) send(take(number));
  await time.runUntil(500);
  const granted = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 429);
  expect(granted.map(({ headers }) => headers['ratelimit'])).toEqual(['"token";r=1;t=0', '"token";r=0;t=1']);
  expect(refused).toMatchObject([{ headers: { ratelimit: '"token";r=0;t=1', 'retry-after': '1' } }]);
  const [first, second] = granted;
  send({ kind: 'release', path: '1', match: first?.headers.etag });
  send({ kind: 'release', path: '2', match: second?.headers.etag });
  await time.runUntil(1_000);
  expect(answers.slice(3).map(({ status }) => status)).toEqual([204, 204]);
  expect(service.counts).toMatchObject({ rateLimited: 1, rateLimitedOfOneToken: 1 });
});
