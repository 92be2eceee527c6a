import { expect } from 'vitest';
import type { Fault, FaultProxy, Manner, Passing } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { soak } from './place.ts';

type Manners = readonly (readonly [name: string, manner: Manner])[];
type Troubles = readonly (readonly [name: string, fault: Fault])[];

export const allManners: Manners = [
  ['has ETags', {}],
  ['has ids alone', { givesNoTag: true }],
  ['has neither ETags nor ids', { givesNoProof: true }],
  ['has nothing that tells a lock from another', { givesNoProof: true, keepsNoTimes: true, keepsNoOrigin: true }],
];

const allTroubles: Troubles = [
  ['is done, and its answer lost', { kind: 'done-then-cut' }],
  ['does not arrive', { kind: 'cut' }],
  ['is done, and a proxy answers 502', { kind: 'done-then-answer', status: 502 }],
  ['is done, and its answer breaks off', { kind: 'done-then-truncated' }],
  ['is refused with 429', { kind: 'answer', status: 429, headers: { 'retry-after': '1' } }],
  ['is refused with 503', { kind: 'answer', status: 503 }],
];

/** How services tell locks apart, from all that ours does to nothing: in a short form with all that ours does. */
export const manners: Manners = soak
  ? allManners
  : forms(
      allManners.filter((_, index) => index % 2 === 0),
      0,
    );

/** What passes, and what a step with its default retries gets over. A shorter form has what is done and not told. */
export const troubles: Troubles = soak
  ? allTroubles
  : forms(
      allTroubles.filter(([, { kind }]) => kind.startsWith('done-then')),
      0,
    );

export interface Met {
  /** How many requests came since. */
  count(): number;
  /** Settled when the request of that number has met its fault, and `meanwhile` is done; at once where it never came. */
  done(): Promise<void>;
}

/**
 * The request of this number, from 1 on, meets the fault. When it has, and before the next request gets to the service,
 * `meanwhile` happens: what others do in between.
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
    // Whoever asks again finds what has happened; without a fault, the answer waits for it.
    happening.catch(() => undefined);
    return fault ?? { kind: 'done-then-held-back', until: happening };
  });
  return { count: () => came, done: async () => happening };
}

/** Plays with the trouble at the first request, then at the second, and so on, as long as there are so many. */
export async function atEveryRequest(play: (number: number) => Promise<Met>): Promise<number> {
  for (let number = 1; ; number += 1) {
    if ((await play(number)).count() < number) return number - 1;
  }
}
