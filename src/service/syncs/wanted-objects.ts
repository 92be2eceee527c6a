import type { BranchName } from '../../interface/branch-name.ts';
import type { MissingObject } from '../contract/schemas.ts';
import type { Remote } from '../git/remote.ts';
import type { Limits } from '../git/run-git.ts';

/** The interface between the callers that need LFS objects of a branch and the part that fetches them. */

export interface WantedObjects {
  readonly workspace: string;
  readonly branch: BranchName;
  readonly head: string;
  readonly remote: Remote;
  /** The settings of the workspace. */
  readonly settings: {
    readonly created_at: number;
    readonly lfs_url: string | null;
    readonly lfs_mode: string | null;
  };
}

export interface FetchedObjects {
  readonly wanted: { readonly objects: number; readonly bytes: number };
  readonly received: { readonly objects: number; readonly bytes: number };
  readonly missing: { readonly count: number; readonly named: readonly MissingObject[] };
}

export const noObjects: FetchedObjects = {
  wanted: { objects: 0, bytes: 0 },
  received: { objects: 0, bytes: 0 },
  missing: { count: 0, named: [] },
};

/** Rejects with a GitError if no object can be fetched, or with the reason of the signal. */
export type FetchObjects = (
  wanted: WantedObjects,
  /** The timeout applies to git only, because LFS objects may be large. A store that sends nothing ends earlier. */
  limits: Limits & { readonly signal: AbortSignal },
  onProgress: (progress: Pick<FetchedObjects, 'wanted' | 'received'>) => void,
) => Promise<FetchedObjects>;
