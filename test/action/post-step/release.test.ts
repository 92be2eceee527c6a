import { describe, expect, test } from 'vitest';
import type { Grant } from '../../../src/action/ledger/entry.ts';
import type { ReleaseResult } from '../../../src/action/locks/release.ts';
import type { Claim } from '../../../src/action/post-step/claims.ts';
import { releaseClaims } from '../../../src/action/post-step/release.ts';
import { type Failure, ServiceError } from '../../../src/client/service-error.ts';

const service = 'https://workspaces.example.com/v1';
const start = Date.UTC(2026, 2, 1, 12);
const second = 1_000;

const claimOf = (path: string, endsInSeconds: number): Claim => ({
  doubt: undefined,
  grant: {
    kind: 'granted',
    service,
    workspace: 'game',
    path,
    step: 'step',
    key: path,
    at: new Date(start).toISOString(),
    waitedMs: 0,
    lock: { path, type: 'exclusive', expires_at: new Date(start + endsInSeconds * second).toISOString() },
  },
});

function errorOf(failure: Failure): ServiceError {
  return new ServiceError({ method: 'DELETE', path: '/v1/workspaces/game/locks/a', attempts: 1 }, failure);
}

const refused = (status: number, retryAfterMs?: number): Failure => ({
  kind: 'refused',
  status,
  words: undefined,
  requestId: undefined,
  fields: [],
  missingScope: undefined,
  retryAfterMs,
});

const failing = (failure: Failure): ReleaseResult => ({ kind: 'failed', error: errorOf(failure) });

/** Ends a step in a time that passes only in its pauses. */
async function ending(
  claims: readonly Claim[],
  answer: (path: string, tries: number, doubtful: boolean) => ReleaseResult,
  timeLimitMs = 45 * second,
) {
  let now = start;
  const tries: string[] = [];
  const results = await releaseClaims(
    {
      clock: () => now,
      random: () => 0.5,
      async sleep(ms) {
        now += ms;
      },
      session: {
        acquire: () => Promise.reject(new Error('Nothing is acquired.')),
        settle: () => Promise.reject(new Error('Nothing was unclear.')),
        async release({ path }: Grant, _, doubtful = false) {
          tries.push(path);
          return answer(path, tries.filter((one) => one === path).length, doubtful);
        },
      },
    },
    service,
    { held: claims, unclear: [], trouble: undefined },
    { deadline: start + timeLimitMs },
  );
  return { results, tries, tookMs: now - start };
}

describe('at the end of a job', () => {
  test('what would block others for longest is released first', async () => {
    const claims = [claimOf('short', 60), claimOf('over', -5), claimOf('long', 7_200), claimOf('middle', 3_600)];
    const { tries } = await ending(claims, () => ({ kind: 'released' }));
    expect(tries).toEqual(['long', 'middle', 'short', 'over']);
  });

  test('what failed for a passing reason is tried again, also when the service asks for a longer time', async () => {
    const beyond: Failure = { kind: 'deadline', last: refused(503, 120 * second), retryAfterMs: 120 * second };
    const { results, tries } = await ending([claimOf('a', 60), claimOf('b', 50)], (path, number) =>
      path === 'a' && number < 4 ? failing(beyond) : { kind: 'released' },
    );
    expect(results.map(({ kind }) => kind)).toEqual(['released', 'released']);
    expect(tries).toEqual(['a', 'b', 'a', 'a', 'a']);
  });

  test('what goes on failing is told as it failed last, before the time is over', async () => {
    const { results, tries, tookMs } = await ending([claimOf('a', 60)], () => failing(refused(502)));
    expect(results).toMatchObject([{ kind: 'failed', why: expect.stringContaining('502') }]);
    expect(tries.length).toBeGreaterThan(5);
    expect(tookMs).toBeGreaterThan(35 * second);
    expect(tookMs).toBeLessThan(45 * second);
  });

  test('what is refused for good is not tried again', async () => {
    const { results, tries } = await ending([claimOf('a', 60)], () => failing(refused(403)));
    expect(results).toMatchObject([{ kind: 'failed' }]);
    expect(tries).toEqual(['a']);
  });

  test('a lock that another has after a try without an answer is not taken for one that was lost', async () => {
    const { results } = await ending([claimOf('a', 60)], (_, number, doubtful) => {
      expect(doubtful).toBe(number > 1);
      return number === 1 ? failing({ kind: 'timeout', limitMs: second }) : { kind: 'lost', holder: undefined };
    });
    expect(results).toMatchObject([{ kind: 'gone' }]);
  });
});
