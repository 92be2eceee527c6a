import { beforeAll } from 'vitest';
import type { Storage } from '../../src/service/storage/storage.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import type { DatabaseKind } from './databases.ts';
import { operator } from './operator.ts';

interface Options {
  /** Workspaces that exist from the start. */
  readonly workspaces?: readonly string[];
  readonly onCommit?: (changes: number) => void;
}

/** One database for all tests of a file. */
export function sharedStorage(kind: DatabaseKind, { workspaces = [], onCommit }: Options = {}): Storage {
  // Not used before it is opened.
  const shared = {} as Storage;
  beforeAll(async () => {
    const { storage, remove } = await kind.open(onCommit);
    Object.assign(shared, storage);
    await shared.commit('global', async (db) => {
      for (const id of workspaces)
        await addWorkspace(db, shared.now, operator, { id, remote: `https://git.example.com/${id}.git` });
    });
    return remove;
  });
  return shared;
}
