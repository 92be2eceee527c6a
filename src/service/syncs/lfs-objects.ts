import type { MissingObject } from '../../interface/resources.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Remote } from '../git/remote.ts';
import type { Limits } from '../git/run-git.ts';

/** Handling of LFS objects by a sync, after the commits have been fetched. */
export interface WantedObjects {
  readonly workspace: string;
  readonly branch: BranchName;
  readonly head: string;
  readonly remote: Remote;
  readonly settings: { readonly lfs_url: string | null; readonly lfs_mode: string | null };
}

/** Objects missing from the mirror. */
export interface ObjectCounts {
  readonly objects: number;
  readonly bytes: number;
}

export interface FetchedObjects {
  readonly wanted: ObjectCounts;
  readonly received: ObjectCounts;
  readonly missing: { readonly count: number; readonly named: readonly MissingObject[] };
}

export const noObjects: FetchedObjects = {
  wanted: { objects: 0, bytes: 0 },
  received: { objects: 0, bytes: 0 },
  missing: { count: 0, named: [] },
};

/** Rejects with an LfsError if no object can be fetched, or with the reason of the signal. */
export type FetchObjects = (
  wanted: WantedObjects,
  /** The timeout is for git, and for how long a store may give nothing. */
  limits: Limits & { readonly signal: AbortSignal },
  onProgress: (progress: Pick<FetchedObjects, 'wanted' | 'received'>) => void,
) => Promise<FetchedObjects>;

/** Why the objects of a workspace could not be fetched. The message is a sentence for a person and holds no credential. */
export class LfsError extends Error {
  override readonly name = 'LfsError';
}
