import { expect } from 'vitest';
import {
  type Fault,
  type FaultProxy,
  isListing,
  isLocking,
  isReleasing,
  isRenewing,
  type Passing,
} from '../../../support/fault-proxy.ts';
import type { StepOptions } from '../../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../../support/runner/step.ts';
import type { Network } from './network.ts';
import type { Player } from './players.ts';

/** The request of a step at which it is stopped, and what happens to this request and those after it. */
export interface StopAt {
  readonly atRequest: number;
  readonly fault: Fault;
}

/** The request at which a step is killed, and whether the service has processed it. */
export interface KilledAt {
  readonly at: number;
  readonly done: boolean;
}

export const killed = ({ at, done }: KilledAt): StopAt => ({
  atRequest: at,
  fault: { kind: done ? 'done-then-silence' : 'silence' },
});

interface Running extends StopAt {
  readonly player: Player;
  readonly options: StepOptions;
  readonly paths: readonly string[];
}

/** Returns a function that runs a step, and stops it at a request about these paths, unless the step ends earlier. */
export function stopsAtRequests(network: Network, proxy: FaultProxy) {
  return async (
    { player, options, paths, atRequest, fault }: Running,
    stop: (step: RunningStep) => Promise<StepResult>,
  ): Promise<StepResult> => {
    const reached = Promise.withResolvers<void>();
    const met: Passing[] = [];
    let asked = 0;
    network.watch((passing) => {
      if (!isAbout(passing, player.origin, paths)) return undefined;
      asked += 1;
      if (asked < atRequest) return undefined;
      reached.resolve();
      met.push(passing);
      return fault;
    });
    const step = await player.job.step(options);
    await Promise.race([reached.promise, step.finished]);
    if (fault.kind === 'done-then-silence') {
      const statusOf = ({ at }: Passing) => proxy.passed.find((one) => one.at === at)?.status;
      await expect.poll(() => met.every((passing) => statusOf(passing) !== undefined)).toBe(true);
    }
    player.isStopped = true;
    const stopping = stop(step);
    network.watch(undefined);
    return stopping;
  };
}

/** Whether a step of the run sends the request to lock, look up or release these paths. */
const isAbout = (passing: Passing, origin: string, paths: readonly string[]): boolean =>
  passing.headers.referer === origin &&
  (isListing(passing) ||
    ((isLocking(passing) || isReleasing(passing)) && !isRenewing(passing) && paths.includes(passing.path ?? '')));

/** The step or process may have ended by itself. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // See above.
  }
}
