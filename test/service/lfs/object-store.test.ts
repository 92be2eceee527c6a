import { readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { createObjectStore, type ListedObject } from '../../../src/service/lfs/object-store.ts';
import { parseOid, parsePointer } from '../../../src/service/lfs/pointer.ts';
import { pointerTo } from '../../support/lfs-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { objectName, storeObject } from './stored-object.ts';

const bytes = Buffer.from('a hero');
const name = objectName(bytes);

test('an object is stored at the same path as in Git LFS, and only in its workspace, not a later one with its id', async () => {
  const folder = temporaryFolder();
  const workspace = { id: 'a.b', created_at: 1 };
  await storeObject(folder, workspace, bytes);
  const found = await createObjectStore(folder, workspace).find(name.oid);
  expect(found?.size).toBe(bytes.length);
  expect(found?.path).toMatch(`/lfs/a.b@1/objects/${name.oid.slice(0, 2)}/${name.oid.slice(2, 4)}/${name.oid}`);
  expect(await readFile(found?.path ?? '')).toEqual(bytes);
  for (const other of [{ id: 'other' }, { created_at: 2 }]) {
    expect(await createObjectStore(folder, { ...workspace, ...other }).find(name.oid)).toBeUndefined();
  }
});

test.each(['', '..', '../'.repeat(22).slice(0, 64), name.oid.toUpperCase(), name.oid.slice(1), `${name.oid}\n`])(
  'only a hash is an object id: %j',
  (text) => {
    expect(parseOid(text).ok).toBe(false);
  },
);

test('objects are listed with their sizes and their last use, and other files are not', async () => {
  const folder = temporaryFolder();
  const game = { id: 'game', created_at: 1 };
  const store = createObjectStore(folder, game);
  const [one, other] = [await storeObject(folder, game, bytes), await storeObject(folder, game, Buffer.from('small'))];
  for (const { path } of [one, other]) await utimes(path, new Date(0), new Date(0));
  await writeFile(`${dirname(one.path)}/notes.txt`, '');
  await store.use(other);
  const found: ListedObject[] = [];
  for await (const object of store.list()) found.push(object);
  const listed = found.toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
  expect(listed.map(({ oid, size }) => ({ oid, size }))).toEqual([one, other].map(({ oid, size }) => ({ oid, size })));
  expect(listed.map(({ lastUsedAt }) => lastUsedAt > Date.now() - 60_000)).toEqual([false, true]);
  await store.remove(other.oid);
  expect(await store.find(other.oid)).toBeUndefined();
});

test('a pointer to more than a tebibyte is treated as a normal file', () => {
  const pointer = (size: number) => parsePointer(pointerTo({ oid: name.oid, size }));
  expect(pointer(2 ** 40)).toMatchObject({ size: 2 ** 40 });
  for (const size of [2 ** 40 + 1, Number.MAX_SAFE_INTEGER]) expect(pointer(size)).toBeUndefined();
});
