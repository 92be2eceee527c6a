import type { LockPath } from '../interface/lock-path.ts';
import { type PushLockMode, pushLockModes } from '../interface/resources.ts';
import type { WorkspaceId } from './access.ts';
import { inParallel } from './in-parallel.ts';
import { firstName, isArray, type JsonObject } from './json.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';
import { ifSupported } from './service-error.ts';

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

export type CheckPathsResult = Awaited<ReturnType<ReturnType<typeof createCheckPaths>>>;

/** The limits of a request: the service accepts bodies up to 1 MiB. */
const maxPaths = 1_000;
const maxPathBytes = 900_000;

export const createCheckPaths = ({ call, endpoints }: ClientContext) => {
  async function checkSome({ workspace, paths }: CheckPathsRequest, within: CallLimits): Promise<CheckedPaths> {
    const body = { paths: [...paths] };
    const result = await call({ method: 'POST', target: endpoints.check(workspace), body, expect }, within);
    const { response } = expectSuccess(result);
    return readChecked(objectIn(response), response.sanitizer);
  }

  async function checkAll(request: CheckPathsRequest, within: CallLimits): Promise<CheckedPaths> {
    let all: CheckedPaths = { kind: 'checked', pushLocks: 'all', locks: [] };
    await inParallel(inParts([...new Set(request.paths)]), async (part) => {
      const some = await checkSome({ ...request, paths: part }, within);
      all = { ...some, locks: [...all.locks, ...some.locks] };
    });
    return all;
  }

  /** Throws a ServiceError. Changes nothing. Not every service can check many paths at once. */
  return (request: CheckPathsRequest, within: CallLimits) => ifSupported(checkAll(request, within));
};

function inParts(paths: readonly LockPath[]): readonly (readonly LockPath[])[] {
  const parts: LockPath[][] = [];
  let bytes = 0;
  for (const path of paths) {
    const size = Buffer.byteLength(JSON.stringify(path));
    let part = parts.at(-1);
    if (part === undefined || part.length === maxPaths || bytes + size > maxPathBytes) {
      part = [];
      parts.push(part);
      bytes = 0;
    }
    part.push(path);
    bytes += size;
  }
  return parts;
}

const expect = expectResource('list of locks', ({ locks }) => isArray(locks));

function readChecked(body: JsonObject, sanitizer: Sanitizer): CheckedPaths {
  const { locks } = body;
  return {
    kind: 'checked',
    locks: (isArray(locks) ? locks : []).flatMap((entry) => {
      const lock = readListedLock(entry, sanitizer);
      return lock === undefined ? [] : [{ ...lock, branch: firstName(lock.raw, ['branch']) }];
    }),
    pushLocks: pushLockModes.find((mode) => mode === body['push_locks']) ?? 'all',
  };
}
