import type { FoundWorkspace } from '../workspaces/workspaces.ts';
import type { ObjectName, Oid } from './oid.ts';

/** Of one object of a batch: where it is, or what is wrong with it. */
export interface ObjectAnswer extends ObjectName {
  readonly authenticated?: boolean | undefined;
  readonly actions?: { readonly download: { readonly href: string } } | undefined;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

/** What the store answers for objects that the mirror lacks; undefined where a client has to ask it by itself. */
export type AskUpstream = (
  workspace: FoundWorkspace,
  missing: readonly ObjectName[],
) => Promise<ReadonlyMap<Oid, ObjectAnswer> | undefined>;
