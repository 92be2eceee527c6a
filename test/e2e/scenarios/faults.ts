import { expect } from 'vitest';
import { type Fault, type FaultProxy, type Manner, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { soak } from './place.ts';

type Manners = readonly (readonly [name: string, manner: Manner])[];
type Troubles = readonly (readonly [name: string, fault: Fault])[];

export const allManners: Manners = [
  ['has ETags', {}],
  ['has ETags, but no leases', pathByPath],
  ['has only ids', { givesNoTag: true }],
  ['has neither ETags nor ids', { givesNoProof: true }],
  ['has no way to identify locks', { givesNoProof: true, keepsNoTimes: true, keepsNoOrigin: true }],
];

const allTroubles: Troubles = [
  ['takes effect, but its response is lost', { kind: 'done-then-cut' }],
  ['does not arrive', { kind: 'cut' }],
  ['takes effect, but a proxy answers 502', { kind: 'done-then-answer', status: 502 }],
  ['takes effect, but its response is truncated', { kind: 'done-then-truncated' }],
  ['is rejected with 429', { kind: 'answer', status: 429, headers: { 'retry-after': '1' } }],
  ['is rejected with 503', { kind: 'answer', status: 503 }],
];

/** How services identify locks: the best and the worst. The soak test has all, and a short run the best. */
export const manners: Manners = soak
  ? allManners
  : forms(
      allManners.filter((_, index) => index <= 1 || index === allManners.length - 1),
      0,
    );

/** Transient faults that the default retries overcome: the worst, and one with a response. A short run has the worst. */
export const troubles: Troubles = soak
  ? allTroubles
  : forms(
      allTroubles.filter(([, { kind }]) => kind === 'done-then-cut' || kind === 'done-then-answer'),
      0,
    );

export interface Met {
  /** Number of requests so far. */
  count(): number;
  /** Resolves after the fault and `meanwhile`, or at once if the request with that number never came. */
  done(): Promise<void>;
}

/**
 * The request with this number, counted from 1, meets the fault. After it, and before the next request reaches the
 * service, `meanwhile` runs: it does what others do in between.
 */
export function meetAt(
  proxy: FaultProxy,
  number: number,
  fault: Fault | undefined,
  meanwhile: () => Promise<void>,
): Met {
  let came = 0;
  let happening: Promise<void> | undefined;
  const before = proxy.passed.length;
  const arrives = fault === undefined || fault.kind.startsWith('done-then');

  async function happen(): Promise<void> {
    if (arrives) await expect.poll(() => proxy.passed[before + number - 1]?.status).toBeDefined();
    await meanwhile();
  }

  proxy.meet((_: Passing) => {
    came += 1;
    if (came < number) return undefined;
    if (came > number) return happening && { kind: 'held-back', until: happening };
    happening = happen();
    // A retry sees the effect of `meanwhile`; without a fault, the response waits for it.
    happening.catch(() => undefined);
    return fault ?? { kind: 'done-then-held-back', until: happening };
  });
  return { count: () => came, done: async () => happening };
}

/** Runs with the fault at the first request, then at the second, and so on. Returns the number of requests. */
export async function atEveryRequest(play: (number: number) => Promise<Met>): Promise<number> {
  for (let number = 1; ; number += 1) {
    if ((await play(number)).count() < number) return number - 1;
  }
}
