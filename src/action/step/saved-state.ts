import { parseWorkspaceId } from '../../client/access.ts';
import { parseJson } from '../../client/json.ts';
import { parseHeldPath } from '../../interface/lock-path.ts';
import type { Redact } from '../../interface/redact.ts';
import { type Grant, type GrantedLock, isGrantedLock } from '../../locks/ledger/entry.ts';
import { lockJson } from '../../locks/ledger/ledger.ts';
import { type Checked, hasShape, isBoolean, isOptional, isString, isValid } from '../../locks/ledger/shape.ts';
import { fitsVariable } from '../report/outcome.ts';

const isSavedState = hasShape({
  service: isString,
  workspace: isValid(parseWorkspaceId),
  /** This job does not release the locks: `auto-release` is false. */
  outlivesJob: isBoolean,
  /** The first path, if the locks are a lease, which has the id of the step. */
  leasedPath: isOptional(isValid(parseHeldPath)),
  /** Those without a lease, unless there are too many. */
  locks: (value: unknown): value is readonly GrantedLock[] => Array.isArray(value) && value.every(isGrantedLock),
});

/** State that the runner keeps for a step that has all its locks: files may be gone at the end of the job. */
export type SavedState = Checked<typeof isSavedState>;

export function formatSavedState(
  given: Omit<SavedState, 'locks' | 'leasedPath'>,
  grants: readonly Grant[],
  redact: Redact,
): string {
  const { leased = [], single = [] } = Object.groupBy(grants, ({ lock }) => (lock.lease ? 'leased' : 'single'));
  const about = { ...given, leasedPath: leased[0]?.path, locks: [] };
  const all = lockJson({ ...about, locks: single.map(({ lock }) => ({ ...lock, owner: undefined })) }, redact);
  return fitsVariable(all) ? all : JSON.stringify(about);
}

/** Undefined if the step never had all its locks. */
export function parseSavedState(text: string): SavedState | undefined {
  const parsed = parseJson(text);
  const state: unknown = parsed.ok && parsed.value;
  return isSavedState(state) ? state : undefined;
}
