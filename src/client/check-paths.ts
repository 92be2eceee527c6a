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
import { knowsNoRoute, type ServiceError } from './service-error.ts';

interface CheckPathsRequest {
  readonly workspace: WorkspaceId;
  readonly paths: readonly LockPath[];
}

export interface CheckedLock extends KnownLock {
  readonly branch: string | undefined;
}

interface CheckedPaths {
  readonly kind: 'checked';
  readonly locks: readonly CheckedLock[];
  readonly pushLocks: PushLockMode;
}

/** Not every service can check many paths at once. */
export type CheckPathsResult = CheckedPaths | { readonly kind: 'unsupported'; readonly error: ServiceError };

/** The service accepts bodies up to 1 MiB, and paths up to 1 KiB. */
const maxPaths = 500;

export const createCheckPaths = ({ call, endpoints }: ClientContext) => {
  async function checkSome({ workspace, paths }: CheckPathsRequest, within: CallLimits): Promise<CheckPathsResult> {
    const target = endpoints.check(workspace);
    const body = { paths: [...paths] };
    const result = await call({ method: 'POST', target, body, expect }, within);
    const error = result.kind === 'given-up' ? result.error : result.refusal();
    if (knowsNoRoute(error)) return { kind: 'unsupported', error };
    const { response } = expectSuccess(result);
    return readChecked(objectIn(response), response.sanitizer);
  }

  /** Throws a ServiceError. Changes nothing. */
  return async (request: CheckPathsRequest, within: CallLimits): Promise<CheckPathsResult> => {
    const results: CheckPathsResult[] = [];
    await inParallel(
      inParts([...new Set(request.paths)]),
      async (paths) => void results.push(await checkSome({ ...request, paths }, within)),
    );
    return results.reduce(joined, { kind: 'checked', pushLocks: 'all', locks: [] });
  };
};

function joined(one: CheckPathsResult, other: CheckPathsResult): CheckPathsResult {
  if (one.kind === 'unsupported' || other.kind === 'unsupported') return one.kind === 'unsupported' ? one : other;
  return { ...other, locks: [...one.locks, ...other.locks] };
}

const inParts = (paths: readonly LockPath[]): readonly (readonly LockPath[])[] =>
  Array.from({ length: Math.ceil(paths.length / maxPaths) }, (_, part) =>
    paths.slice(part * maxPaths, (part + 1) * maxPaths),
  );

const expect = expectResource('list of locks', ({ locks }) => isArray(locks));

function readChecked(body: JsonObject, sanitizer: Sanitizer): CheckedPaths {
  return {
    kind: 'checked',
    locks: asArray(body['locks']).flatMap((entry) => {
      const lock = readListedLock(entry, sanitizer);
      return lock === undefined ? [] : [{ ...lock, branch: firstName(lock.raw, ['branch']) }];
    }),
    pushLocks: pushLockModes.find((mode) => mode === body['push_locks']) ?? 'all',
  };
}
