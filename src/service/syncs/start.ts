import type { Sync } from '../../interface/resources.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Database, Now } from '../storage/storage.ts';
import { enqueue } from './queue.ts';
import type { Preparation } from './trigger.ts';

export interface WantedSync {
  readonly workspace: string;
  readonly branch: BranchName;
  /** The name of the token. */
  readonly requestedBy: string;
}

export type Start =
  | { readonly kind: 'queued'; readonly sync: Sync }
  /** Why is a sentence for a person. */
  | { readonly kind: 'unknown-branch'; readonly why: string };

const mostNamed = 5;

const some = (names: readonly string[]): string =>
  names.length === 0
    ? 'It has none yet.'
    : `It has ${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''}.`;

/** Queues what was found out about the branch before this transaction; whoever calls it wakes the worker afterwards. */
export async function startPrepared(
  db: Database,
  now: Now,
  { workspace, branch, requestedBy }: WantedSync,
  preparation: Preparation,
): Promise<Start> {
  switch (preparation.kind) {
    case 'unknown-branch':
      return { kind: 'unknown-branch', why: `The remote has no branch ${branch}. ${some(preparation.known)}` };
    case 'ready': {
      const { estimatedObjects } = preparation;
      return { kind: 'queued', sync: await enqueue(db, now, { workspace, branch, estimatedObjects, requestedBy }) };
    }
  }
}
