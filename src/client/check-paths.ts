import type { LockPath } from '../interface/lock-path.ts';
import { type PushLockMode, pushLockModes } from '../interface/resources.ts';
import type { WorkspaceId } from './access.ts';
import { inParallel } from './in-parallel.ts';
import { asArray, firstName, isArray, type JsonObject } from './json.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';

interface CheckPathsRequest {
  readonly workspace: WorkspaceId;
  readonly paths: readonly LockPath[];
}

export interface CheckedLock extends KnownLock {
  readonly branch: string | undefined;
}

interface CheckedPaths {
  readonly locks: readonly CheckedLock[];
  readonly pushLocks: PushLockMode;
}

/** The service accepts bodies up to 1 MiB, and paths up to 1 KiB. */
const maxPaths = 500;

export const createCheckPaths = ({ call, endpoints }: ClientContext) => {
  /** Throws a ServiceError, also for a service that cannot check many paths at once. Changes nothing. */
  return async ({ workspace, paths }: CheckPathsRequest, within: CallLimits): Promise<CheckedPaths> => {
    const target = endpoints.check(workspace);
    let checked: CheckedPaths = { pushLocks: 'all', locks: [] };
    await inParallel(inParts([...new Set(paths)]), async (some) => {
      const { response } = expectSuccess(await call({ method: 'POST', target, body: { paths: some }, expect }, within));
      const { locks, pushLocks } = readChecked(objectIn(response), response.sanitizer);
      checked = { pushLocks, locks: [...checked.locks, ...locks] };
    });
    return checked;
  };
};

const inParts = (paths: readonly LockPath[]): readonly (readonly LockPath[])[] =>
  Array.from({ length: Math.ceil(paths.length / maxPaths) }, (_, part) =>
    paths.slice(part * maxPaths, (part + 1) * maxPaths),
  );

const expect = expectResource('list of locks', ({ locks }) => isArray(locks));

function readChecked(body: JsonObject, sanitizer: Sanitizer): CheckedPaths {
  return {
    locks: asArray(body['locks']).flatMap((entry) => {
      const lock = readListedLock(entry, sanitizer);
      return lock === undefined ? [] : [{ ...lock, branch: firstName(lock.raw, ['branch']) }];
    }),
    pushLocks: pushLockModes.find((mode) => mode === body['push_locks']) ?? 'all',
  };
}
