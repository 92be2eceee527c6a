import { admitEmptyRelease, requireFreeDisk } from '../access/access.ts';
import { actorOf, bearerOf, keyedRequestOf, runOriginOf } from '../access/caller.ts';
import type { ApiParts } from '../api/operation.ts';
import { writeCursor } from '../contract/request-fields.ts';
import { type ApiResponse, parseRequestPart } from '../contract/response.ts';
import { grants } from '../contract/scopes.ts';
import { readOptionalBody } from '../http/body.ts';
import type { App } from '../http/context.ts';
import { readQuery } from '../http/request-target.ts';
import { isKeyUsed } from '../idempotency/idempotency.ts';
import { isLfsRenewalDue, isOwnLock } from '../locks/change-lock.ts';
import { type LockRow, listLocks, locksWithIds, toLock } from '../locks/find.ts';
import { orThrow } from '../locks/refusals.ts';
import type { Storage } from '../storage/storage.ts';
import { lfsLockTtl } from '../workspaces/settings.ts';
import { acquireSchema, lfsQueryNames, looksLikeLockId, querySchema, releaseSchema, verifySchema } from './requests.ts';
import { addRoute, lfsError, lfsLock, lfsResponse } from './responses.ts';

export function addLfsLockRoutes(app: App, routes: ApiParts): void {
  const { storage, locks } = routes;

  addRoute(app, routes, {
    method: 'POST',
    path: '/locks',
    access: 'locks:write',
    async handle(c, workspace) {
      const { path, ref: branch } = await readOptionalBody(c, acquireSchema);
      const key = keyedRequestOf(c);
      await requireFreeDisk(routes, () => isKeyUsed(storage, key));
      const { lock } = await locks.acquire(key, {
        workspace: workspace.id,
        path,
        compare: () => routes.compare({ workspace, branch, paths: [path] }),
        ttl: lfsLockTtl(workspace),
        bearer: bearerOf(c),
        origin: runOriginOf(c),
        fromLfs: true,
      });
      return lfsResponse(201, { lock: lfsLock(lock) });
    },
  });

  addRoute(app, routes, {
    method: 'GET',
    path: '/locks',
    access: 'locks:read',
    async handle(c, { id: workspace }) {
      const query = parseRequestPart(querySchema, readQuery(c.env.incoming.url ?? '', lfsQueryNames));
      const { path, id, limit, cursor: after } = query;
      if (id !== undefined) {
        const lock = await findById(storage, workspace, id);
        const isWanted = lock !== undefined && (path === undefined || path === lock.path);
        return lfsResponse(200, { locks: isWanted ? lfsLocks([lock]) : [] });
      }
      const { locks: listed, next } = await listLocks(storage.read, { workspace, path, limit, after });
      return lfsResponse(200, { locks: lfsLocks(listed), ...nextCursor(next) });
    },
  });

  addRoute(app, routes, {
    method: 'POST',
    path: '/locks/verify',
    access: 'locks:read',
    async handle(c, workspace) {
      const { limit, cursor: after } = await readOptionalBody(c, verifySchema);
      const bearer = bearerOf(c);
      const { locks: listed, next } = await listLocks(storage.read, { workspace: workspace.id, limit, after });
      const sideOf = (lock: LockRow) => (isOwnLock(lock, bearer) ? 'ours' : 'theirs');
      const { ours = [], theirs = [] } = Object.groupBy(listed, sideOf);
      const ttl = lfsLockTtl(workspace);
      const due = grants(bearer.scopes, 'locks:write') ? ours.filter((lock) => isLfsRenewalDue(lock, ttl)) : [];
      const extension = { workspace: workspace.id, ttl, bearer, isExtension: true };
      await Promise.all(
        due.map(({ path, id }) => locks.renew(undefined, { ...extension, path, match: (held) => held === id })),
      );
      return lfsResponse(200, { ours: lfsLocks(ours), theirs: lfsLocks(theirs), ...nextCursor(next) });
    },
  });

  addUnlockRoute(app, routes);
}

function addUnlockRoute(app: App, routes: ApiParts): void {
  addRoute(app, routes, {
    method: 'POST',
    path: '/locks/:lock/unlock',
    access: 'locks:write',
    charge: 'never',
    async handle(c, { id: workspace }): Promise<ApiResponse> {
      const { force } = await readOptionalBody(c, releaseSchema);
      const id = c.req.param('lock') ?? '';
      const found = await findById(routes.storage, workspace, id);
      const absent = lfsError(
        404,
        'There is no lock with this id. It was released, has expired, or never existed.',
        c.get('requestId'),
      );
      const bearer = bearerOf(c);
      const key = keyedRequestOf(c);
      if (found === undefined) {
        admitEmptyRelease(routes, bearer);
        if (key === undefined) return absent;
      }
      // Without a lock, only a repeated request gets a response other than `absent`: the remembered one.
      const change = { workspace, path: found?.path ?? '', match: (held: string) => held === id, force };
      const release = await routes.locks.release({ ...change, bearer, actor: actorOf(c) }, key);
      if (release.kind === 'refused') {
        if (found !== undefined) admitEmptyRelease(routes, bearer);
        if (['not-found', 'lock-changed'].includes(release.problem)) return absent;
      }
      const { lock } = orThrow(release);
      return lfsResponse(200, { lock: lfsLock(lock) });
    },
  });
}

const lfsLocks = (locks: readonly LockRow[]) => locks.map((row) => lfsLock(toLock(row)));

const nextCursor = (next: string | undefined) => next !== undefined && { next_cursor: writeCursor(next) };

async function findById(storage: Storage, workspace: string, id: string): Promise<LockRow | undefined> {
  const [found] = looksLikeLockId(id) ? await locksWithIds(storage.read, workspace, [id]) : [];
  return found;
}
