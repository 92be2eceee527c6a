import { utimes } from 'node:fs/promises';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { createObjectStore, type ObjectStore, type StoreOwner } from '../../../src/service/lfs/object-store.ts';
import type { ObjectName, Oid } from '../../../src/service/lfs/pointer.ts';
import { keptUnusedMs, removeUnusedObjects } from '../../../src/service/lfs/unused-objects.ts';
import { databaseKinds } from '../../support/databases.ts';
import { pointerTo } from '../../support/lfs-store.ts';
import { storeSyncedBranches } from '../../support/stored-rows.ts';
import { sharedService } from '../http/shared-service.ts';
import { ownerOf, storeObject } from './stored-object.ts';

describe.each(databaseKinds)('LFS objects on $name', (kind) => {
  const service = sharedService(kind);
  /** The needed objects by commit. */
  const needed = new Map<string, readonly ObjectName[]>();

  /** One round over all workspaces, with the errors that it reported. */
  async function round(objectsOf = storeOf, missing: ReadonlySet<string> = new Set()) {
    const errors: unknown[] = [];
    await removeUnusedObjects({
      ...{ storage: service.storage, objectsOf, log: pino({ level: 'silent' }) },
      git: {
        missingCommits: async (_workspace, commits) => new Set([...commits].filter((commit) => missing.has(commit))),
        async smallBlobs(_workspace, commit, _limits, onBlob) {
          const found = needed.get(commit);
          if (found === undefined) throw new Error('git failed');
          for (const object of found) onBlob(object.oid, Buffer.from(pointerTo(object)));
        },
      },
      stopping: new AbortController().signal,
      onError: (error) => errors.push(error),
    });
    return errors;
  }
  const storeOf = (workspace: StoreOwner): ObjectStore => createObjectStore(service.dataFolder, workspace);

  /** A workspace with three objects of 100 bytes that were last used long ago. The head of its branch needs the first. */
  async function stocked() {
    const workspace = await ownerOf(service, await service.workspace());
    const stored: Awaited<ReturnType<typeof storeObject>>[] = [];
    for (const text of ['one', 'two', 'three']) {
      const object = await storeObject(service.dataFolder, workspace, Buffer.from(text.padEnd(100)));
      const at = new Date(Date.now() - keptUnusedMs - 60_000);
      await utimes(object.path, at, at);
      stored.push(object);
    }
    const [first, second, third] = stored;
    if (first === undefined || second === undefined || third === undefined) throw new Error('An object is missing.');
    const head = `head of ${workspace.id}`;
    needed.set(head, [first]);
    await storeSyncedBranches(service.storage, { workspace_id: workspace.id, name: 'main', head });
    const left = async () => {
      const found = await Promise.all(stored.map(({ oid }) => storeOf(workspace).find(oid)));
      return found.map((each) => each !== undefined);
    };
    return { workspace, head, first, second, third, left };
  }

  test('are removed if no head needs them and nobody has used them for two weeks', async () => {
    const { workspace, second, left } = await stocked();
    await storeOf(workspace).use(second);
    expect(await round()).toEqual([]);
    expect(await left()).toEqual([true, true, false]);
  });

  test('stay if they are used during the round', async () => {
    const { second, left } = await stocked();
    await round((workspace) => {
      const store = storeOf(workspace);
      return {
        ...store,
        async *list() {
          yield* store.list();
          await store.use(second);
        },
      };
    });
    expect(await left()).toEqual([true, true, false]);
  });

  test('stay if the needed ones are unknown, while the next workspace is cleaned up', async () => {
    const [broken, other] = [await stocked(), await stocked()];
    needed.delete(broken.head);
    const errors = await round();
    expect([await broken.left(), await other.left()]).toEqual([
      [true, true, true],
      [true, false, false],
    ]);
    expect(errors).toContainEqual(new Error('git failed'));
    needed.set(broken.head, []);
  });

  test('stay while this instance has not fetched a head, which may need them', async () => {
    const { head, left } = await stocked();
    await round(storeOf, new Set([head]));
    expect(await left()).toEqual([true, true, true]);
    await round();
    expect(await left()).toEqual([true, false, false]);
  });

  test('are reported if they cannot be removed, and do not keep the others', async () => {
    const { workspace: guarded, second, left } = await stocked();
    const errors = await round((workspace) => {
      const store = storeOf(workspace);
      const isDenied = (oid: Oid) => workspace.id === guarded.id && oid === second.oid;
      const denied = new Error('not permitted');
      return { ...store, remove: (oid) => (isDenied(oid) ? Promise.reject(denied) : store.remove(oid)) };
    });
    expect([await left(), errors]).toEqual([[true, true, false], [new Error('not permitted')]]);
  });
});
