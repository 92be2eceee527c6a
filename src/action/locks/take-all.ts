import type { ServiceError, Within } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { inParallel } from './in-parallel.ts';
import type { Holding, Taking } from './keeper.ts';

/** What came of asking for a set of locks. */
export interface Haul {
  readonly taken: readonly Grant[];
  readonly unclear: readonly Intent[];
  /** The first path that somebody else holds. */
  readonly held: Holding | undefined;
  /** The first request that failed otherwise. */
  readonly error: ServiceError | undefined;
}

export type Take = (path: LockPath, within: Within) => Promise<Taking>;

/**
 * Asks for the paths until one of them cannot be had: all or nothing, so there is no use in going on. The first one
 * alone: of those who want the same paths one gets it, and the others have taken nothing that they would have to give
 * back. The rest in parallel.
 */
export async function takeAll(
  take: Take,
  paths: readonly LockPath[],
  within: Within,
  signal: AbortSignal,
): Promise<Haul> {
  const taken: Grant[] = [];
  const unclear: Intent[] = [];
  let held: Holding | undefined;
  let error: ServiceError | undefined;
  const goOn = (): boolean => held === undefined && error === undefined && !signal.aborted;

  async function takeOne(path: LockPath): Promise<void> {
    const taking = await take(path, within);
    switch (taking.kind) {
      case 'taken':
        taken.push(taking.grant);
        return;
      case 'held':
        held ??= taking;
        return;
      case 'unclear':
        unclear.push(taking.intent);
        if (taking.holding === undefined) error ??= taking.error;
        else held ??= taking.holding;
        return;
      case 'failed':
        error ??= taking.error;
        return;
    }
  }

  await inParallel(paths.slice(0, 1), takeOne, goOn);
  await inParallel(paths.slice(1), takeOne, goOn);
  return { taken, unclear, held, error };
}
