import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServiceTimes } from '../../../bench/simulate/service.ts';
import { type EndedStep, type Outcome, outcomeOf, runJobs, simulate } from '../../../bench/simulate/simulation.ts';
import { runs } from '../../support/runs.ts';
import { tried } from '../../support/soak/tried.ts';
import { faster, someTimes, someWorkload } from './some-service.ts';

/** When each job had each path, as far as it knew: until it let go, or the lock's own end. */
const holdings = (steps: readonly EndedStep[]) =>
  steps.flatMap(({ grants, at, heldUntil = Number.POSITIVE_INFINITY }) =>
    grants.map(({ path, lock }) => ({ path, at, until: Math.min(heldUntil, Date.parse(lock.expires_at)) })),
  );

interface Condition {
  readonly seed: number;
  readonly jobs: number;
  readonly paths: number;
  readonly tokens: number;
  readonly instances: number;
  readonly perSecond: number;
  readonly slower: number;
}

const conditions: fc.Arbitrary<Condition> = fc.record({
  seed: fc.integer(),
  jobs: fc.integer({ min: 1, max: 60 }),
  paths: fc.integer({ min: 1, max: 30 }),
  tokens: fc.integer({ min: 1, max: 3 }),
  instances: fc.integer({ min: 1, max: 3 }),
  perSecond: fc.constantFrom(1, 5, 100),
  slower: fc.constantFrom(1, 100, 5_000),
});

/** One where a token is refused for its rate, and one where answers come later than anybody waits for them. */
const limited: Condition = { seed: 7, jobs: 60, paths: 6, tokens: 1, instances: 2, perSecond: 1, slower: 1 };
const late: Condition = { ...limited, tokens: 3, instances: 1, perSecond: 100, slower: 5_000 };

describe('in a simulation', () => {
  test('every step has got its locks, has given up, has failed or waits, and nobody shares a path', async () => {
    const seen = { rateLimited: 0, gaveUp: 0, acquired: 0, late: 0 };
    await tried(
      'simulations in which nobody shared a path',
      fc.asyncProperty(conditions, async ({ seed, perSecond, slower, ...more }) => {
        const workload = { ...someWorkload, ...more, rateLimit: { perSecond, burst: 2 * perSecond } };
        const run = await runJobs({ workload, times: faster(someTimes, 1 / slower), seed, minutes: 4 });
        const { ended, begun, waiting } = run;
        const outcome = outcomeOf(run);
        expect(ended.length + waiting).toBe(begun);
        for (const its of Map.groupBy(holdings(ended), ({ path }) => path).values()) {
          const inTurn = its.toSorted((one, other) => one.at - other.at);
          for (const [index, { at }] of inTurn.entries()) {
            expect(at).toBeGreaterThanOrEqual(inTurn[index - 1]?.until ?? 0);
          }
        }
        seen.acquired += ended.filter(({ ending }) => ending === 'acquired').length;
        seen.gaveUp += outcome.gaveUp;
        seen.rateLimited += outcome.rateLimitedShare;
        if (outcome.answersP99Ms >= 29_000) seen.late += 1;
      }),
      { examples: [[limited], [late]] },
    );
    for (const [what, often] of Object.entries(seen)) expect(often, what).toBeGreaterThan(0);
  });

  test('the same seed gives the same figures, and another seed others', async () => {
    const outcome = (seed: number): Promise<Outcome> =>
      simulate({ workload: someWorkload, times: someTimes, seed, minutes: 2 });
    const first = await outcome(3);
    expect(await outcome(3)).toEqual(first);
    expect(await outcome(4)).not.toEqual(first);
  });

  test('a service that is faster lets nobody wait longer, but for chance', async () => {
    // Hardly anybody gives up: of those who do, no wait is known.
    const workload = { ...someWorkload, jobs: 12, paths: 200, waitSeconds: 300, vanish: 0 };
    const slow = faster(someTimes, 1 / 1_000);
    const meanWait = async (times: ServiceTimes): Promise<number> => {
      const seeds = Array.from({ length: runs(2, 20) }, (_, seed) => seed);
      let sum = 0;
      for (const seed of seeds) {
        const { meanWaitSeconds } = await simulate({ workload, times, seed, minutes: runs(5, 20) });
        sum += meanWaitSeconds;
      }
      return sum / seeds.length;
    };
    const waits: number[] = [];
    for (const by of [1, 4, 200]) waits.push(await meanWait(faster(slow, by)));
    const [slowest = 0, middle = 0, fastest = 0] = waits;
    const chance = 1.15;
    expect(middle).toBeLessThan(slowest * chance);
    expect(fastest).toBeLessThan(middle * chance);
  });

  test('with paths for everybody nobody waits, and with one path for all they do', async () => {
    const waited = (paths: number): Promise<Outcome> =>
      simulate({ workload: { ...someWorkload, paths, zipf: 0, vanish: 0 }, times: someTimes, seed: 1, minutes: 3 });
    const wide = await waited(1_000_000);
    expect(wide).toMatchObject({ gaveUp: 0, failed: 0, pollsShare: 0 });
    expect(wide.meanWaitSeconds).toBeLessThan(1);
    const narrow = await waited(1);
    expect(narrow.gaveUp).toBeGreaterThan(0);
    expect(narrow.hottest).toMatchObject([{ place: 0 }]);
    expect(narrow.hottest[0]?.held).toBeGreaterThan(0.4);
    expect(narrow.hottest[0]?.held).toBeLessThanOrEqual(1);
    expect(narrow.pollsShare).toBeGreaterThan(0.2);
  });
});
