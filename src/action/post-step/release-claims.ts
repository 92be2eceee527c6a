import type { Client, KnownLock, LockProof, Release, ServiceError, Within } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { LockTask } from '../inputs/task.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { inParallel } from '../locks/in-parallel.ts';
import type { Keeper } from '../locks/keeper.ts';
import { ownershipByList } from '../locks/still-ours.ts';
import type { Claims } from './claims.ts';

/** What became of one claim. */
export type Settled =
  | { readonly kind: 'released'; readonly grant: Grant }
  | { readonly kind: 'gone'; readonly grant: Grant }
  | { readonly kind: 'lost'; readonly grant: Grant; readonly holder: KnownLock | undefined }
  /** Past its lifetime, and nothing shows that what is there is ours. */
  | { readonly kind: 'left-alone'; readonly grant: Grant }
  | { readonly kind: 'failed'; readonly grant: Grant; readonly error: ServiceError }
  /** Whether it was granted was never learned, and cannot be shown. */
  | { readonly kind: 'unproven'; readonly intent: Intent; readonly error: ServiceError }
  | { readonly kind: 'never-granted'; readonly intent: Intent };

const isProven = ({ etag, id }: LockProof): boolean => etag !== undefined || id !== undefined;

const settledAs = (grant: Grant, release: Release): Settled => {
  switch (release.kind) {
    case 'released':
      return { kind: 'released', grant };
    case 'absent':
      return { kind: 'gone', grant };
    case 'lost':
      return { kind: 'lost', grant, holder: release.holder };
    case 'failed':
      return { kind: 'failed', grant, error: release.error };
  }
};

/** Releases what can be shown to be ours, in parallel, each within what is left of the one deadline. */
export async function releaseClaims(
  client: Client,
  keeper: Keeper,
  { workspace }: LockTask,
  { held, unclear }: Claims,
  within: Within,
  isServiceError: (error: unknown) => error is ServiceError,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];

  async function settle(grant: Grant): Promise<Settled> {
    if (isProven(grant.lock)) return settledAs(grant, await keeper.giveBack(grant, within));
    try {
      const ownership = await ownershipByList(client, workspace, grant.lock, within);
      switch (ownership.kind) {
        case 'ours':
          return settledAs(grant, await keeper.giveBack(grant, within));
        case 'gone':
          return { kind: 'gone', grant };
        case 'lost':
          return { kind: 'lost', grant, holder: ownership.holder };
        case 'unknown':
          return { kind: 'left-alone', grant };
      }
    } catch (error) {
      if (isServiceError(error)) return { kind: 'failed', grant, error };
      throw error;
    }
  }

  async function clearUp(intent: Intent): Promise<Settled> {
    const taking = await keeper.askAgain(intent, within);
    switch (taking.kind) {
      case 'taken':
        return settle(taking.grant);
      case 'held':
        return { kind: 'never-granted', intent };
      case 'failed':
      case 'unclear':
        return { kind: 'unproven', intent, error: taking.error };
    }
  }

  await inParallel(held, async (grant) => {
    settled.push(await settle(grant));
  });
  await inParallel(unclear, async (intent) => {
    settled.push(await clearUp(intent));
  });
  return settled;
}

export const pathOf = (settled: Settled): LockPath =>
  // A path in the ledger is one that was asked for, and so one of the canonical ones.
  ('grant' in settled ? settled.grant.path : settled.intent.path) as LockPath;
