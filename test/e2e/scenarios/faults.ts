import { expect } from 'vitest';
import type { Fault, FaultProxy, Manner, Passing } from '../../support/fault-proxy.ts';
import type { Job, StepOptions } from '../../support/runner/job.ts';

/** The best service, one with odd ETags, and the worst: one whose locks nothing identifies. */
export const manners: readonly (readonly [name: string, manner: Manner])[] = [
  ['has ETags', {}],
  ['has ETags without quotes', { omitsQuotes: true }],
  ['has no way to identify locks', { givesNoProof: true, looksAlike: true }],
];

/** The worst transient fault: the request takes effect, and its response is lost. */
export const lostResponse: Fault = { kind: 'done-then-cut' };

/** Kills a step at its first such request, before the service has processed it. */
export async function killAt(
  proxy: FaultProxy,
  job: Job,
  options: StepOptions,
  isMet: (passing: Passing) => boolean,
): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  proxy.meet((passing) => {
    if (!isMet(passing)) return undefined;
    arrived.resolve();
    return { kind: 'silence' };
  });
  const step = await job.step(options);
  await arrived.promise;
  await step.kill();
  proxy.meet(() => undefined);
}

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
