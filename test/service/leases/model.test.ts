import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { readLockHistory } from '../../../src/service/locks/history.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { leasesOf } from './leases-of.ts';

const owner = fc.constantFrom('ada', 'bob');
const path = fc.constantFrom('a', 'b', 'c', 'd');
const lease = fc.constantFrom('lease-of-the-model-1', 'lease-of-the-model-2', 'lease-of-the-model-3');

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('put' as const), owner, lease, waits: fc.boolean() },
      paths: fc.uniqueArray(path, { minLength: 1 }),
      some: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('take' as const), owner, path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('renew' as const, 'end' as const), owner, lease }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('release' as const, 'force' as const), owner, path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), path }) },
);

interface Held {
  readonly id: string;
  readonly path: string;
  readonly owner: string;
  readonly lease: string | null;
  readonly fence: number;
}

/** Without other members. */
const heldOf = ({ id, path, owner, lease, fence }: Held): Held => ({ id, path, owner, lease, fence });

describe.each(databaseKinds)('locks and leases in any order, on $name', (kind) => {
  const service = sharedService(kind);
  let tokens: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const secretOf = async (name: string) =>
      (await service.token({ name, owner: name, scopes: name === 'root' ? ['locks:admin'] : ['locks:write'] })).secret;
    tokens = { ada: await secretOf('ada'), bob: await secretOf('bob'), root: await secretOf('root') };
  });

  test('have one holder per path, all or none of a lease, and a history of each lock', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { id: workspace } = await service.newWorkspace();
      const held = new Map<string, Held>();
      const ownerOf = new Map<string, string>();
      const dead = new Set<string>();
      const history: string[] = [];
      let lastFence = 0;

      function expectNew(locks: readonly Held[]): void {
        for (const lock of locks) {
          expect(held.has(lock.path), `a second holder of ${lock.path}`).toBe(false);
          expect(lock.fence).toBeGreaterThan(lastFence);
          lastFence = lock.fence;
          held.set(lock.path, heldOf(lock));
        }
      }
      function expectEnded(kind: string, paths: readonly string[]): void {
        for (const path of paths) {
          history.push(`${kind} ${held.get(path)?.id}`);
          held.delete(path);
        }
      }
      const heldBy = (lease: string) => [...held.values()].filter((lock) => lock.lease === lease);
      const pathsHeldBy = (lease: string) =>
        heldBy(lease)
          .map(({ path }) => path)
          .toSorted();

      for (const each of steps) {
        const name = 'owner' in each ? each.owner : 'root';
        const token = tokens[each.kind === 'force' ? 'root' : name] ?? '';
        const locks = locksOf(service, workspace, token);
        const leases = leasesOf(service, workspace, token);
        switch (each.kind) {
          case 'put': {
            const wanted = each.some ? 1 : each.paths.length;
            const body = { paths: each.paths, count: wanted };
            const { status, body: reply } = await leases.put(each.lease, body, each.waits ? { prefer: 'wait=0' } : {});
            if (ownerOf.has(each.lease) && ownerOf.get(each.lease) !== name) expect(status).toBe(403);
            if (status === 201) {
              expect(ownerOf.has(each.lease) || dead.has(each.lease)).toBe(false);
              expect(reply.locks).toHaveLength(wanted);
              for (const lock of reply.locks) expect(each.paths).toContain(lock.path);
              expectNew(reply.locks);
              ownerOf.set(each.lease, name);
            } else if (status === 200) {
              const now = reply.locks.flatMap((lock: { state: string; path: string }) =>
                lock.state === 'held' ? lock.path : [],
              );
              expect(now.toSorted()).toEqual(pathsHeldBy(each.lease));
            } else if (status === 410) {
              expect(pathsHeldBy(each.lease)).toEqual([]);
            } else {
              expect([202, 403, 409, 422]).toContain(status);
            }
            break;
          }
          case 'take': {
            const { status, body } = await locks.take(each.path);
            if (status === 201) expectNew([body]);
            else expect(status).toBe(409);
            break;
          }
          case 'renew': {
            const { status } = await leases.renew(each.lease);
            if (ownerOf.get(each.lease) === name) expect(status).toBe(heldBy(each.lease).length > 0 ? 200 : 410);
            else expect([403, 404, 410]).toContain(status);
            break;
          }
          case 'end': {
            const { status, body } = await leases.end(each.lease);
            if (status === 200) {
              if (!dead.has(each.lease)) {
                expect(body.released.toSorted()).toEqual(pathsHeldBy(each.lease));
                expectEnded('released', body.released);
              }
            } else expect([204, 403]).toContain(status);
            if (status !== 403) {
              expect(pathsHeldBy(each.lease)).toEqual([]);
              dead.add(each.lease);
            }
            break;
          }
          case 'release': {
            const { status } = await locks.release(each.path);
            const isOwn = held.get(each.path)?.owner === name;
            expect(status).toBe(isOwn ? 204 : held.has(each.path) ? 403 : 404);
            if (isOwn) expectEnded('released', [each.path]);
            break;
          }
          case 'force': {
            const { status } = await locks.release(each.path, {}, '?force=true');
            expect(status).toBe(held.has(each.path) ? 204 : 404);
            if (status === 204) expectEnded('force-released', [each.path]);
            break;
          }
          case 'expire':
            if (!held.has(each.path)) break;
            await changeRows(
              service.storage,
              'locks',
              { expires_at: Date.now() - 1_000 },
              { workspace_id: workspace, path: each.path },
            );
            expectEnded('expired', [each.path]);
            break;
        }
        const { body } = await locks.list();
        expect(body.locks.map(heldOf)).toEqual(
          [...held.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1)),
        );
      }
      const told = async () => {
        const { periods } = await readLockHistory(service.storage.read, { workspace, limit: 200 });
        return periods.map(({ kind, lock_id }) => `${kind} ${lock_id}`).toSorted();
      };
      await expect.poll(told, { timeout: 10_000 }).toEqual(history.toSorted());
    });
    await fc.assert(property, { numRuns: runs(15, 200) });
  });
});
