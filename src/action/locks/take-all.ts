import type { ServiceError, Within } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { inParallel } from './in-parallel.ts';
import type { Holding, Keeper } from './keeper.ts';

/** What came of asking for a set of locks. */
export interface Haul {
  readonly taken: readonly Grant[];
  readonly unclear: readonly Intent[];
  /** The first path that somebody else holds. */
  readonly held: Holding | undefined;
  /** The first request that failed otherwise. */
  readonly error: ServiceError | undefined;
}

export const isComplete = ({ held, error, unclear }: Haul): boolean =>
  held === undefined && error === undefined && unclear.length === 0;

/**
 * Asks for the paths until one of them cannot be had: all or nothing, so there is no use in going on. What is under
 * way by then is waited for, because a request that is cut off leaves a lock that nobody knows of.
 */
export async function takeAll(
  keeper: Keeper,
  paths: readonly LockPath[],
  within: Within,
  signal: AbortSignal,
): Promise<Haul> {
  const taken: Grant[] = [];
  const unclear: Intent[] = [];
  let held: Holding | undefined;
  let error: ServiceError | undefined;
  await inParallel(
    paths,
    async (path) => {
      const taking = await keeper.take(path, within);
      switch (taking.kind) {
        case 'taken':
          taken.push(taking.grant);
          return;
        case 'held':
          held ??= taking;
          return;
        case 'unclear':
          unclear.push(taking.intent);
          error ??= taking.error;
          return;
        case 'failed':
          error ??= taking.error;
          return;
      }
    },
    () => held === undefined && error === undefined && !signal.aborted,
  );
  return { taken, unclear, held, error };
}
