import { parseWorkspaceId } from '../../client/access.ts';
import type { Redact } from '../report/redact.ts';
import { fitsVariable } from '../report/variable.ts';
import { type Grant, type GrantedLock, isGrantedLock } from './entry.ts';
import { lockJson } from './ledger.ts';

/** What the runner remembers of a step that has all its locks: files can be gone by the end of the job. */
export interface SavedState {
  readonly service: string;
  readonly workspace: string;
  /** Somebody else releases the locks: `auto-release` is false. */
  readonly outlivesJob: boolean;
  /** Undefined if they are too many to save. */
  readonly locks: readonly GrantedLock[] | undefined;
}

export function formatSavedState(about: Omit<SavedState, 'locks'>, grants: readonly Grant[], redact: Redact): string {
  const all = lockJson({ ...about, locks: grants.map(compact) }, redact);
  return fitsVariable(all) ? all : JSON.stringify(about);
}

/** Undefined where the step never had all its locks. */
export function parseSavedState(text: string): SavedState | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  // An object that JSON made has nothing but string keys.
  const { service, workspace, outlivesJob, locks } = value as Readonly<Record<string, unknown>>;
  if (typeof service !== 'string' || typeof workspace !== 'string' || !parseWorkspaceId(workspace).ok) return undefined;
  return {
    service,
    workspace,
    outlivesJob: outlivesJob === true,
    locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
  };
}

/** Only what proves a lock, and when it ends. */
function compact({ lock: { path, type, id, etag, acquired_at, fence, expires_at } }: Grant): GrantedLock {
  return { path, type, id, etag, acquired_at, fence, expires_at };
}
