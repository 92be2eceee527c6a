import { parseWorkspaceId } from '../../client/access.ts';
import type { Redact } from '../../interface/redact.ts';
import { type Grant, type GrantedLock, isGrantedLock } from '../../locks/ledger/entry.ts';
import { lockJson } from '../../locks/ledger/ledger.ts';
import { fitsVariable } from '../report/variable.ts';

/** State that the runner keeps for a step that has all its locks: files may be gone at the end of the job. */
export interface SavedState {
  readonly service: string;
  readonly workspace: string;
  /** This job does not release the locks: `auto-release` is false. */
  readonly outlivesJob: boolean;
  /** Undefined if there are too many to save. */
  readonly locks: readonly GrantedLock[] | undefined;
}

export function formatSavedState(about: Omit<SavedState, 'locks'>, grants: readonly Grant[], redact: Redact): string {
  const all = lockJson({ ...about, locks: grants.map(compact) }, redact);
  return fitsVariable(all) ? all : JSON.stringify(about);
}

/** Undefined if the step never had all its locks. */
export function parseSavedState(text: string): SavedState | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  // Objects from JSON have only string keys.
  const { service, workspace, outlivesJob, locks } = value as Readonly<Record<string, unknown>>;
  if (typeof service !== 'string' || typeof workspace !== 'string' || !parseWorkspaceId(workspace).ok) return undefined;
  return {
    service,
    workspace,
    outlivesJob: outlivesJob === true,
    locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
  };
}

/** Keeps the proof of ownership and the expiry, without the owner. */
function compact({ lock: { path, type, id, etag, acquired_at, fence, expires_at } }: Grant): GrantedLock {
  return { path, type, id, etag, acquired_at, fence, expires_at };
}
