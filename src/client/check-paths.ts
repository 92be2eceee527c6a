import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { inParallel } from './in-parallel.ts';
import { asArray, isArray } from './json.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { expectResource } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { objectIn } from './response.ts';

interface CheckPathsRequest {
  readonly workspace: WorkspaceId;
  readonly paths: readonly LockPath[];
}

/** The service accepts bodies up to 1 MiB, and paths up to 1 KiB. */
const maxPaths = 500;

export const createCheckPaths = ({ call, endpoints }: ClientContext) => {
  /** The locks on the paths. Throws a ServiceError, also for a service that cannot check many paths at once. */
  return async ({ workspace, paths }: CheckPathsRequest, within: CallLimits): Promise<readonly KnownLock[]> => {
    const target = endpoints.check(workspace);
    const found: KnownLock[] = [];
    await inParallel(inParts([...new Set(paths)]), async (some) => {
      const { response } = expectSuccess(await call({ method: 'POST', target, body: { paths: some }, expect }, within));
      const { locks } = objectIn(response);
      found.push(...asArray(locks).flatMap((entry) => readListedLock(entry, response.sanitizer) ?? []));
    });
    return found;
  };
};

const inParts = (paths: readonly LockPath[]): readonly (readonly LockPath[])[] =>
  Array.from({ length: Math.ceil(paths.length / maxPaths) }, (_, part) =>
    paths.slice(part * maxPaths, (part + 1) * maxPaths),
  );

const expect = expectResource('list of locks', ({ locks }) => isArray(locks));
