import { parseWorkspaceId } from '../../client/workspace-id.ts';
import { type Grant, type GrantedLock, isGrantedLock } from './entry.ts';
import { concealedJson } from './ledger.ts';

/** What the runner keeps in its memory of a step that has all its locks: files can be gone by the end of the job. */
export interface Kept {
  readonly service: string;
  readonly workspace: string;
  /** The locks outlive the job: somebody else releases them. */
  readonly handedOn: boolean;
  /** Undefined when there are too many for the runner to keep. */
  readonly locks: readonly GrantedLock[] | undefined;
}

/** It becomes one environment string, which has at most 32,767 characters on Windows. */
const longest = 30_000;

/** Only what proves a lock, and when it ends. */
const compact = ({ lock }: Grant): GrantedLock => ({
  path: lock.path,
  type: lock.type,
  id: lock.id,
  etag: lock.etag,
  acquired_at: lock.acquired_at,
  fence: lock.fence,
  expires_at: lock.expires_at,
});

export function keptText(
  about: Omit<Kept, 'locks'>,
  grants: readonly Grant[],
  conceal: (text: string) => string,
): string {
  const all = concealedJson({ ...about, locks: grants.map(compact) }, conceal);
  return all.length <= longest ? all : JSON.stringify(about);
}

/** Undefined when the step did not come so far. */
export function readKept(text: string): Kept | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  // An object that JSON made has nothing but string keys.
  const { service, workspace, handedOn, locks } = value as Readonly<Record<string, unknown>>;
  if (typeof service !== 'string' || typeof workspace !== 'string' || !parseWorkspaceId(workspace).ok) return undefined;
  return {
    service,
    workspace,
    handedOn: handedOn === true,
    locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
  };
}
