import { describe, expect, test } from 'vitest';
import type { ReleaseCandidate } from '../../../src/action/post-step/candidates.ts';
import { releaseAll } from '../../../src/action/post-step/release-all.ts';
import type { RequestFailure } from '../../../src/client/service-error.ts';
import type { Grant, Loss } from '../../../src/locks/ledger/entry.ts';
import type { ReleaseResult } from '../../../src/locks/release.ts';
import { createLockSession } from '../../../src/locks/session.ts';
import {
  addressOf,
  errorOf,
  grantOf,
  intentOf,
  iso,
  knownLock,
  lockOf,
  place,
  refused,
  sessionOf,
  start,
} from '../../locks/samples.ts';
import { createVirtualClient, rawResponse } from '../../support/virtual-client.ts';
import { createVirtualTime } from '../../support/virtual-time.ts';

const second = 1_000;

const candidateOf = (path: string, endsInSeconds = 60): ReleaseCandidate => ({
  releaseStatus: undefined,
  grant: grantOf(path, { lock: lockOf(path, { id: `lock_${path}`, expires_at: iso(endsInSeconds * second) }) }),
});

const released: ReleaseResult = { kind: 'released' };
const absent: ReleaseResult = { kind: 'absent' };
const taken: ReleaseResult = { kind: 'other', holder: undefined };
const takenAt = (ms: number): ReleaseResult => ({ kind: 'other', holder: knownLock('a', { acquired_at: iso(ms) }) });
const timeout: RequestFailure = { kind: 'timeout', limitMs: second };
const failing = (failure: RequestFailure, mayBeDone = true): ReleaseResult => ({
  kind: 'failed',
  error: errorOf(failure),
  mayBeDone,
});

const setting = {
  client: { listLocks: () => Promise.reject(new Error('Nothing is listed.')) },
  service: place.service,
  within: { deadline: start + 45 * second },
};

/** Ends a step in virtual time, which passes only in its pauses. */
async function ending(
  candidates: readonly ReleaseCandidate[],
  response: (path: string, tries: number, mayBeReleased: boolean) => ReleaseResult,
  renewalError?: string,
) {
  let now = start;
  const tries: string[] = [];
  const lines: string[] = [];
  const results = await releaseAll(
    {
      ...setting,
      serverNow: () => now,
      log: { line: (text) => void lines.push(text) },
      clock: () => now,
      random: () => 0.5,
      async sleep(ms) {
        now += ms;
      },
      session: sessionOf({
        acquire: () => Promise.reject(new Error('Nothing is acquired.')),
        settle: () => Promise.reject(new Error('No request was unanswered.')),
        async release({ path }: Grant, _, { mayBeReleased = false } = {}) {
          tries.push(path);
          return response(path, tries.filter((one) => one === path).length, mayBeReleased);
        },
      }),
    },
    { held: candidates, unanswered: [], leases: [], ledgerError: undefined, renewalError },
  );
  return { results, tries, lines, tookMs: now - start };
}

describe('the release at the end of a job', () => {
  test('starts with the locks that would block others the longest', async () => {
    const candidates = [
      candidateOf('short'),
      candidateOf('over', -5),
      candidateOf('long', 7_200),
      candidateOf('middle', 3_600),
    ];
    expect((await ending(candidates, () => released)).tries).toEqual(['long', 'middle', 'short', 'over']);
  });

  test('retries after a transient error, even if the service asks to wait longer than the deadline', async () => {
    const retryAfterMs = 120 * second;
    const beyond = failing({ kind: 'deadline', last: refused(503, { retryAfterMs }), retryAfterMs });
    const { results, tries } = await ending([candidateOf('a'), candidateOf('b', 50)], (path, number) =>
      path === 'a' && number < 4 ? beyond : released,
    );
    expect(results.map(({ kind }) => kind)).toEqual(['released', 'released']);
    expect(tries).toEqual(['a', 'b', 'a', 'a', 'a']);
  });

  test('reports the last error of a lock that keeps failing, before the deadline', async () => {
    const { results, tries, lines, tookMs } = await ending([candidateOf('a')], () => failing(refused(502)));
    expect(results).toMatchObject([
      {
        kind: 'failed',
        reason: expect.stringMatching(/^The service failed\./),
        request: expect.stringContaining('502'),
      },
    ]);
    expect(results).toMatchObject([{ request: expect.stringContaining(`, ${tries.length} attempts`) }]);
    expect(lines[0]).toMatch(
      /^1 lock could not be released yet\. The service failed.* 502 .*\)\. Trying again in 0\.8 s\.$/,
    );
    expect(tries.length).toBeGreaterThan(5);
    expect(tookMs).toBeGreaterThan(35 * second);
    expect(tookMs).toBeLessThan(45 * second);
  });

  test('does not retry after a permanent refusal', async () => {
    const { results, tries } = await ending([candidateOf('a')], () => failing(refused(403)));
    expect(results).toMatchObject([{ kind: 'failed' }]);
    expect(tries).toEqual(['a']);
  });

  test('reports the error itself, not the deadline that cut off the last attempt', async () => {
    const cutOff = { kind: 'deadline', last: undefined, retryAfterMs: undefined } as const;
    for (const last of [cutOff, { kind: 'aborted' } as const]) {
      const { results } = await ending([candidateOf('a')], (_, number) => failing(number < 3 ? refused(502) : last));
      expect(results).toMatchObject([{ kind: 'failed', reason: expect.stringMatching(/^The service failed\./) }]);
    }
  });

  const unreached: RequestFailure = {
    kind: 'connection',
    ...{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED', mayHaveArrived: false, untrusted: false },
  };

  test.each<[string, RequestFailure, ReleaseResult, kind: string]>([
    ['lost if another job holds it after an attempt that never arrived', unreached, taken, 'lost'],
    ['lost if another job held it before an attempt that may have released it', timeout, takenAt(-1), 'lost'],
    [
      'gone, not lost, if another job took it after an attempt that may have released it',
      timeout,
      takenAt(0),
      'already-ended',
    ],
    [
      'gone, not lost, if another job holds it after an attempt that may have released it',
      timeout,
      taken,
      'already-ended',
    ],
    ['released if it is gone after an attempt that may have released it', timeout, absent, 'released'],
    ['gone if it is gone after an attempt that never arrived', unreached, absent, 'already-ended'],
  ])('reports a lock as %s', async (_, first, then, kind) => {
    const { results } = await ending([candidateOf('a')], (_path, number) =>
      number === 1 ? failing(first, first !== unreached) : then,
    );
    expect(results).toMatchObject([{ kind }]);
  });

  test('does not report a lock as lost if no step was informed of its grant', async () => {
    const { grant } = candidateOf('a');
    const results = await releaseAll(
      {
        ...setting,
        ...{ serverNow: () => start, clock: () => start, random: () => 0.5, log: { line: () => undefined } },
        sleep: () => Promise.resolve(),
        session: sessionOf({
          acquire: () => Promise.reject(new Error('Nothing is acquired.')),
          settle: () => Promise.resolve({ kind: 'acquired', grant }),
          release: () => Promise.resolve(taken),
        }),
      },
      { held: [], unanswered: [intentOf('a')], leases: [], ledgerError: undefined, renewalError: undefined },
    );
    expect(results).toEqual([{ kind: 'already-ended', grant }]);
  });

  test('repeats a request only until it is granted, however often its release is tried', async () => {
    const { grant } = candidateOf('a');
    const mayBeReleased: unknown[] = [];
    let asked = 0;
    const results = await releaseAll(
      {
        ...setting,
        ...{ serverNow: () => start, clock: () => start, random: () => 0.5, log: { line: () => undefined } },
        sleep: () => Promise.resolve(),
        session: sessionOf({
          acquire: () => Promise.reject(new Error('Nothing is acquired.')),
          async settle() {
            asked += 1;
            return { kind: 'acquired', grant };
          },
          async release(_, __, how) {
            mayBeReleased.push(how?.mayBeReleased);
            return [failing(refused(502), false), failing(timeout), released][mayBeReleased.length - 1] ?? released;
          },
        }),
      },
      { held: [], unanswered: [intentOf('a')], leases: [], ledgerError: undefined, renewalError: undefined },
    );
    expect(results).toEqual([{ kind: 'released', grant }]);
    expect([asked, mayBeReleased]).toEqual([1, [false, false, true]]);
  });

  test.each([
    ['ids', (path: string) => ({ id: `lock_${path}` })],
    ['no ids', () => ({ acquired_at: iso(0) })],
  ])('is not held up by locks whose release fails if the locks have %s', async (_, identity) => {
    const candidateOf = (path: string, endsInSeconds = 60): ReleaseCandidate => ({
      releaseStatus: undefined,
      grant: grantOf(path, { lock: lockOf(path, { ...identity(path), expires_at: iso(endsInSeconds * second) }) }),
    });
    const time = createVirtualTime(start);
    const candidates = [
      ...Array.from({ length: 60 }, (_, index) => candidateOf(`sick${index}`, 7_200)),
      ...Array.from({ length: 10 }, (_, index) => candidateOf(`fine${index}`)),
    ];
    const releasedAfterMs: number[] = [];
    const { client } = createVirtualClient({
      baseUrl: new URL(place.service),
      ...{ timeoutMs: 10 * second, retries: 0 },
      ...{ clock: time.now, sleep: time.sleepUnless, startTimer: time.after, random: () => 0.5 },
      async send({ method, target }, signal) {
        await time.sleepUnless(20, signal);
        const [, path] = /(fine\d)/.exec(target) ?? [];
        const isFine = path !== undefined;
        if (isFine && method === 'GET') return rawResponse(200, [{ path, acquired_at: iso(0) }]);
        if (isFine) releasedAfterMs.push(time.now() - start);
        return rawResponse(isFine ? 204 : 500);
      },
    });
    const context = {
      client,
      clock: time.now,
      sleep: time.sleepUnless,
      random: () => 0.5,
      log: { line: () => undefined },
    };
    const none = { record: () => undefined, step: 's', origin: undefined };
    const session = createLockSession({ ...context, ...none });
    const all = { held: candidates, unanswered: [], leases: [], ledgerError: undefined };
    const results = await time.pass(releaseAll({ ...setting, ...context, session, serverNow: client.serverNow }, all));
    expect(releasedAfterMs).toHaveLength(10);
    expect(Math.max(...releasedAfterMs)).toBeLessThan(3 * second);
    expect(results.filter(({ kind }) => kind === 'released')).toHaveLength(10);
    expect(results.filter(({ kind }) => kind === 'failed')).toHaveLength(60);
    expect(time.now() - start).toBeGreaterThan(35 * second);
  });

  test('continues with the other locks after an internal error with one lock', async () => {
    const { results } = await ending([candidateOf('a'), candidateOf('b')], (path) => {
      if (path === 'a') throw new TypeError('x is not a function');
      return released;
    });
    expect(results).toMatchObject([
      { kind: 'failed', reason: expect.stringMatching(/^Internal error: x is not a function\. This is a bug/) },
      { kind: 'released', grant: { path: 'b' } },
    ]);
  });

  test('does not report a lock as lost if another job holds it after an unanswered attempt', async () => {
    const { results } = await ending([candidateOf('a')], (_, number, mayBeReleased) => {
      expect(mayBeReleased).toBe(number > 1);
      return number === 1 ? failing({ kind: 'timeout', limitMs: second }) : { kind: 'other', holder: undefined };
    });
    expect(results).toMatchObject([{ kind: 'already-ended' }]);
  });
});

test.each<[string, ReleaseResult, kind: string]>([
  ['lost if the current lock cannot be identified', { kind: 'ambiguous' }, 'lost'],
  ['lost if another lock is on the path', taken, 'lost'],
  ['gone if the path is free', absent, 'already-ended'],
])('reports a lock whose path was granted to a later step as %s', async (_, response, kind) => {
  const candidate = { ...candidateOf('a'), grantedAgain: true };
  const { results } = await ending([candidate], (_path, _tries, mayBeReleased) => {
    expect(mayBeReleased).toBe(true);
    return response;
  });
  expect(results).toMatchObject([{ kind }]);
});

describe('the release of renewed locks', () => {
  const loss: Loss = { kind: 'lost', ...addressOf('a'), step: 's', key: 'a', at: iso(0) };
  const failed = failing(refused(403));
  const held = candidateOf('a');
  const over = candidateOf('a', -5);
  const lost = { ...held, loss };

  test.each<[string, ReleaseCandidate, ReleaseResult, string | undefined, kind: string, holder?: 'nobody']>([
    ['released if it still exists', lost, released, undefined, 'released'],
    ['lost if it is gone and the service refused to renew it', lost, absent, undefined, 'lost', 'nobody'],
    ['lost if it is gone and could not be renewed before its end', over, absent, 'It was down.', 'lost', 'nobody'],
    ['gone if it is gone before its end', held, absent, 'It was down.', 'already-ended'],
    ['gone if it is gone after its end, without renewal errors', over, absent, undefined, 'already-ended'],
    [
      'gone if it is gone and its release had started',
      { ...over, releaseStatus: 'release-started' },
      absent,
      'It was down.',
      'already-ended',
    ],
    [
      'lost if it was lost before its release started',
      { ...lost, releaseStatus: 'release-started' },
      absent,
      undefined,
      'lost',
      'nobody',
    ],
    [
      'gone if it may have been lost and the records are damaged',
      { ...over, releaseStatus: 'records-damaged' },
      absent,
      'x',
      'already-ended',
    ],
    ['lost if someone else holds it', lost, taken, undefined, 'lost'],
    ['lost if it was lost before and cannot be looked up', lost, failed, undefined, 'lost'],
    ['failed if it cannot be looked up', held, failed, 'It was down.', 'failed'],
  ])('reports a lock as %s', async (_, candidate, response, trouble, kind, holder) => {
    const { results } = await ending([candidate], () => response, trouble);
    expect(results).toMatchObject([{ kind }]);
    const [result] = results;
    if (result?.kind === 'lost')
      expect(result).toEqual({
        kind,
        grant: candidate.grant,
        holder,
        loss: candidate.loss,
        renewalError: response === failed ? undefined : trouble,
      });
  });

  test('still reports a loss if it takes two attempts to look the lock up', async () => {
    const response = (_: string, tries: number) => (tries === 1 ? failing(refused(502)) : absent);
    expect((await ending([lost], response)).results).toMatchObject([{ kind: 'lost', loss }]);
  });
});
