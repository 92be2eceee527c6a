import { beforeAll } from 'vitest';
import type { Storage } from '../../src/service/storage/storage.ts';
import type { DatabaseKind } from './databases.ts';
import { storeWorkspace } from './stored-rows.ts';

interface Options {
  /** Workspaces that exist from the start. */
  readonly workspaces?: readonly string[];
}

/** One database for all tests of a file. */
export function sharedStorage(kind: DatabaseKind, { workspaces = [] }: Options = {}): Storage {
  // Not used before it is opened.
  const shared = {} as Storage;
  beforeAll(async () => {
    const { storage, remove } = await kind.open();
    Object.assign(shared, storage);
    for (const id of workspaces) await storeWorkspace(shared, { id });
    return remove;
  });
  return shared;
}
