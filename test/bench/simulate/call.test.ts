import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVirtualCall } from '../../../bench/simulate/call.ts';
import { createRandom } from '../../../bench/simulate/chance.ts';
import { stillRunning } from '../../../bench/simulate/lock-table.ts';
import { createVirtualTime } from '../../../bench/simulate/virtual-time.ts';
import type { Answer } from '../../../src/client/answer.ts';
import { createSendOnce } from '../../../src/client/attempt.ts';
import { createCall, type Outcome } from '../../../src/client/call.ts';
import type { Connection } from '../../../src/client/connection.ts';
import { createServerClock } from '../../../src/client/server-clock.ts';
import { runs } from '../../support/runs.ts';
import { tried } from '../../support/soak/tried.ts';

const baseUrl = new URL('http://127.0.0.1:8080/v1');
const request = { method: 'POST', target: '/v1/workspaces/game/locks', body: { path: 'a' } } as const;
const start = 1_000_000;
const latencyMs = 20;

interface Course {
  readonly ends: unknown;
  readonly mayBeDone: boolean;
  readonly tookMs: number;
  readonly sent: number;
}

const endsOf = (outcome: Outcome): unknown =>
  outcome.kind === 'answered' ? outcome.answer.status : [outcome.error.failure, outcome.error.attempts];

interface Script {
  readonly answers: readonly Answer[];
  readonly retries: number;
  readonly patienceMs: number;
  readonly seed: number;
}

const last: Answer = { status: 201, headers: {}, body: { kind: 'empty' } };

/** The client as it is, with a clock that only its pauses and its requests move. */
async function byClient({ answers, retries, patienceMs, seed }: Script): Promise<Course> {
  let now = start;
  let sent = 0;
  const clock = (): number => now;
  const connection: Connection = {
    async send() {
      const { status, headers, body } = answers[sent] ?? last;
      sent += 1;
      now += latencyMs;
      const bytes = Buffer.from(body.kind === 'json' ? JSON.stringify(body.value) : '');
      return { status, headers, bytes, tooLarge: false, endIsUnsure: false };
    },
    close: () => undefined,
  };
  const call = createCall({
    baseUrl,
    clock,
    sendOnce: createSendOnce({ connection, clock, timeoutMs: 30_000 }),
    maxConnections: 16,
    retries,
    serverClock: createServerClock(clock),
    secrets: [],
    headers: {},
    random: createRandom(seed),
    closed: new AbortController().signal,
    onAnswer: () => undefined,
    onRetry: () => undefined,
    onPaced: () => undefined,
    async sleep(ms) {
      now += ms;
    },
  });
  const outcome = await call(request, { deadline: start + patienceMs });
  return { ends: endsOf(outcome), mayBeDone: outcome.mayBeDone, tookMs: now - start, sent };
}

async function bySimulation({ answers, retries, patienceMs, seed }: Script): Promise<Course> {
  const time = createVirtualTime(start);
  let sent = 0;
  const call = createVirtualCall({
    time,
    baseUrl,
    retries,
    random: createRandom(seed),
    timeoutMs: 30_000,
    onAttempt: () => ({ done: () => undefined }),
    send(_, answer) {
      const its = answers[sent] ?? last;
      sent += 1;
      time.after(latencyMs, () => answer(its));
    },
  });
  const { promise, resolve } = Promise.withResolvers<Course>();
  void call(request, { deadline: start + patienceMs }).then((outcome) =>
    resolve({ ends: endsOf(outcome), mayBeDone: outcome.mayBeDone, tookMs: time.now() - start, sent }),
  );
  await time.runUntil(start + 10 * patienceMs);
  return promise;
}

const retryAfter = fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined });

const answer: fc.Arbitrary<Answer> = fc.oneof(
  fc.record({ status: fc.constantFrom(408, 429, 502, 503), after: retryAfter }).map(
    ({ status, after }): Answer => ({
      status,
      headers: after === undefined ? {} : { 'retry-after': String(after) },
      body: { kind: 'empty' },
    }),
  ),
  fc.constant(stillRunning),
  fc.constantFrom(201, 404, 412).map((status): Answer => ({ status, headers: {}, body: { kind: 'empty' } })),
);

test('a simulated call sends, pauses, ends and gives up as the client does', async () => {
  const script = fc.record({
    answers: fc.array(answer, { maxLength: 12 }),
    retries: fc.integer({ min: 0, max: 8 }),
    patienceMs: fc.integer({ min: 1, max: 100 }).map((seconds) => seconds * 1_000),
    seed: fc.integer(),
  });
  let deadlines = 0;
  await tried(
    'simulated calls that ended as those of the client',
    fc.asyncProperty(script, async (its) => {
      const simulated = await bySimulation(its);
      const real = await byClient(its);
      // The timers of the client are the machine's: its clock here does not end a request in its middle.
      if (real.tookMs > its.patienceMs) {
        expect(simulated.tookMs).toBe(its.patienceMs);
        deadlines += 1;
        return;
      }
      expect(simulated.ends).toEqual(real.ends);
      expect(simulated.mayBeDone).toBe(real.mayBeDone);
      expect(simulated.sent).toBe(real.sent);
      // They are added up from different beginnings.
      expect(simulated.tookMs).toBeCloseTo(real.tookMs, 3);
    }),
  );
  expect(deadlines).toBeLessThan(runs(300, 5_000) / 10);
});

test('an attempt that is not answered in time is made again, and ends with the deadline', async () => {
  const time = createVirtualTime(start);
  const sentAt: number[] = [];
  const call = createVirtualCall({
    time,
    baseUrl,
    retries: 4,
    random: () => 0,
    timeoutMs: 30_000,
    onAttempt: () => ({ done: () => undefined }),
    send: () => void sentAt.push(time.now() - start),
  });
  const outcome = call(request, { deadline: start + 40_000 });
  await time.runUntil(start + 100_000);
  expect(sentAt).toEqual([0, 30_250]);
  await expect(outcome).resolves.toMatchObject({
    kind: 'given-up',
    mayBeDone: true,
    error: { failure: { kind: 'deadline', last: { kind: 'timeout', limitMs: 30_000 } } },
  });
});
