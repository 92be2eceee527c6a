import type { LockPath } from '../../interface/lock-path.ts';
import { isRefused } from '../../interface/outdated.ts';
import type { Compared } from '../../interface/resources.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { LockKey } from './find.ts';
import { type LeaseKey, type LeaseRow, storeLease } from './lease-store.ts';
import { isOwnLock } from './release.ts';
import type { LockRequest } from './store-locks.ts';
import { type LockTerms, type Place, type TakeDecision, take } from './take.ts';

export interface LeaseRequest extends LeaseKey, Omit<LockRequest, 'workspace' | 'lease'> {
  /** Hash of the request: another request with the same id is refused. */
  readonly fingerprint: string;
  /** The requested paths, each once. The paths of a pool may change while the lease waits. */
  readonly readPaths: (db: Database) => Promise<readonly LockPath[]>;
  readonly pool?: string | undefined;
  /** How many of the paths are wanted; undefined for all. */
  readonly count: number | undefined;
  readonly compare: (paths: readonly LockPath[]) => Promise<Compared>;
}

export type TakeLeaseDecision =
  | (Extract<TakeDecision, { readonly kind: 'granted' }> & { readonly row: LeaseRow })
  | Exclude<TakeDecision, { readonly kind: 'granted' }>
  | { readonly kind: 'outdated' }
  | { readonly kind: 'another-owner' | 'another-request' }
  /** The pool has fewer items now. */
  | { readonly kind: 'too-few-paths'; readonly paths: number };

export interface TakeOptions extends LockTerms {
  readonly now: Now;
  readonly fold: (path: string) => string | undefined;
  /** Why nobody may lock a path. */
  readonly pathProblem: (path: LockPath) => string | undefined;
}

/** Decides a lease that has not been granted, in a transaction. One that has a place is in line afterwards, if it must wait. */
export async function takeLease(
  db: Database,
  { now, fold, pathProblem, ...terms }: TakeOptions,
  { readPaths, compare: _, id: lease, count, ...request }: LeaseRequest,
  comparison: Compared,
  place: Place | undefined,
): Promise<TakeLeaseDecision> {
  const paths = (await readPaths(db)).filter((path) => pathProblem(path) === undefined);
  const wanted = count ?? paths.length;
  if (paths.length < wanted || wanted === 0) return { kind: 'too-few-paths', paths: paths.length };
  const keys = lockableKeys(request.workspace, paths, comparison, fold);
  if (keys.length < wanted) return { kind: 'outdated' };
  const { workspace, bearer, fingerprint, pool = null } = request;
  const waitId = waitIdOf({ workspace, id: lease });
  const wait = await findWait(db, waitId);
  if (wait !== undefined && !isOwnLock(wait, bearer)) return { kind: 'another-owner' };
  if (wait !== undefined && wait.fingerprint !== fingerprint) return { kind: 'another-request' };
  // A list without refused paths, then and now, is the same: reading thousands of paths is not needed to tell.
  const mayVary = pool !== null || keys.length < paths.length;
  const [decision] = await take(db, now, [{ ...request, lease, keys, wanted, waitId, place, mayVary }], terms);
  if (decision === undefined) throw new Error('The request was not decided.');
  if (decision.kind !== 'granted') return decision;
  const expires_at = decision.locks[0]?.expires_at ?? Number.NaN;
  const row: LeaseRow = {
    ...{ workspace_id: workspace, id: lease, owner: bearer.owner, fingerprint, pool, state: 'held', expires_at },
  };
  await storeLease(db, row);
  return { ...decision, row };
}

/** The id of its wait in line. */
export const waitIdOf = ({ workspace, id }: LeaseKey): string => `${workspace} ${id}`;

export const findWait = (db: Database, id: string) =>
  db.selectFrom('waits').selectAll().where('id', '=', id).executeTakeFirst();

/** Each path that may be locked. */
function lockableKeys(
  workspace: string,
  paths: readonly LockPath[],
  comparison: Compared,
  fold: (path: string) => string | undefined,
): readonly LockKey[] {
  const { outdated, gap } = comparison;
  // Without a comparison that the workspace requires, no path may be locked.
  if (gap !== undefined && isRefused(comparison)) return [];
  const refused = new Set(isRefused(comparison) ? outdated.map(({ path }) => path) : []);
  const keys = paths
    .filter((path) => !refused.has(path))
    .map((path): LockKey => ({ workspace, path, foldedPath: fold(path) }));
  return [...new Map(keys.map((key) => [key.foldedPath ?? key.path, key])).values()];
}
