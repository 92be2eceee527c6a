import { randomBytes } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createObjectStore,
  type ListedObject,
  type ObjectStore,
  objectsFolder,
} from '../../../src/service/lfs/object-store.ts';
import { type ObjectName, type Oid, parseOid } from '../../../src/service/lfs/oid.ts';
import { objectName } from '../../support/stored-object.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Large enough that half of it is written at once. */
const bytes = randomBytes(2_000_000);
const half = bytes.length / 2;

const name = objectName(bytes);

async function openStore(workspace = 'game') {
  const folder = temporaryFolder();
  return { folder, store: createObjectStore(folder, workspace) };
}

const partials = (folder: string): Promise<string[]> => readdir(join(objectsFolder(folder), 'game', 'incomplete'));

async function put(store: ObjectStore, content: Uint8Array): Promise<ObjectName> {
  const partial = await store.openPartial(objectName(content));
  await partial.write(content.subarray(partial.offset));
  expect(await partial.store()).toBe('stored');
  return objectName(content);
}

test('an object is stored at the same path as in Git LFS, and only in its workspace', async () => {
  const { folder, store } = await openStore('a.b');
  await put(store, bytes);
  const found = await store.find(name.oid);
  expect(found?.size).toBe(bytes.length);
  expect(found?.path).toMatch(`/lfs/a%2eb/objects/${name.oid.slice(0, 2)}/${name.oid.slice(2, 4)}/${name.oid}`);
  expect(await readFile(found?.path ?? '')).toEqual(bytes);
  expect(await createObjectStore(folder, 'other').find(name.oid)).toBeUndefined();
});

test.each(['', '..', '../'.repeat(22).slice(0, 64), name.oid.toUpperCase(), name.oid.slice(1), `${name.oid}\n`])(
  'only a hash is an object id: %j',
  (text) => {
    expect(parseOid(text).ok).toBe(false);
  },
);

test('resumes a partial download, and stores the object only when complete', async () => {
  const { store, folder } = await openStore();
  const first = await store.openPartial(name);
  await first.write(bytes.subarray(0, half));
  expect(await first.store()).toBe('incomplete');
  expect(await store.find(name.oid)).toBeUndefined();
  const second = await store.openPartial(name);
  expect(second.offset).toBe(half);
  await second.write(bytes.subarray(half));
  expect(await second.store()).toBe('stored');
  expect(await partials(folder)).toEqual([]);
});

test('wrong content is not stored as the object, and is not resumed', async () => {
  const { store, folder } = await openStore();
  const wrong = await store.openPartial(name);
  await wrong.write(randomBytes(bytes.length));
  expect(await wrong.store()).toBe('wrong-content');
  expect([await store.find(name.oid), await partials(folder)]).toEqual([undefined, []]);

  const damaged = await store.openPartial(name);
  await damaged.write(Buffer.alloc(half));
  await damaged.close();
  const further = await store.openPartial(name);
  await further.write(bytes.subarray(half));
  expect(await further.store()).toBe('wrong-content');
});

test('an object accepts no more bytes than its size', async () => {
  const { store } = await openStore();
  const partial = await store.openPartial(name);
  await expect(partial.write(Buffer.alloc(bytes.length + 1))).rejects.toThrow(RangeError);
  await partial.write(bytes.subarray(0, 10));
  await partial.restart();
  expect(partial.offset).toBe(0);
  await partial.write(bytes);
  expect(await partial.store()).toBe('stored');
});

test('a part that is longer than its object is downloaded again', async () => {
  const { store, folder } = await openStore();
  await (await store.openPartial(name)).close();
  await writeFile(join(objectsFolder(folder), 'game', 'incomplete', name.oid), randomBytes(bytes.length + 1));
  const partial = await store.openPartial(name);
  expect(partial.offset).toBe(0);
  await partial.close();
});

test('a process resumes a part of a killed one, and a process that still writes cannot damage it', async () => {
  const { folder, store } = await openStore();
  const stalled = await store.openPartial(name);
  await stalled.write(bytes.subarray(0, half));
  const other = await createObjectStore(folder, 'game').openPartial(name);
  expect(other.offset).toBe(half);
  await stalled.write(randomBytes(10));
  await other.write(bytes.subarray(half));
  expect(await other.store()).toBe('stored');
  await stalled.write(randomBytes(half - 10));
  expect(await stalled.store()).toBe('wrong-content');
  expect(await readFile((await store.find(name.oid))?.path ?? '')).toEqual(bytes);
  expect(await partials(folder)).toEqual([]);
});

test('parallel downloads of the same object all succeed, and leave one object', async () => {
  const { folder } = await openStore();
  await Promise.all(Array.from({ length: 5 }, () => put(createObjectStore(folder, 'game'), bytes)));
  expect(await partials(folder)).toEqual([]);
  expect(await readFile((await createObjectStore(folder, 'game').find(name.oid))?.path ?? '')).toEqual(bytes);
});

test('objects are listed with their sizes and their last use, and other files are not', async () => {
  const { store } = await openStore();
  const [one, other] = [await put(store, bytes), await put(store, Buffer.from('small'))];
  const pathOf = async (oid: Oid) => (await store.find(oid))?.path ?? '';
  await utimes(await pathOf(one.oid), new Date(0), new Date(0));
  await utimes(await pathOf(other.oid), new Date(0), new Date(0));
  await writeFile(join(dirname(await pathOf(one.oid)), 'notes.txt'), '');
  await store.touch(other.oid);
  const found: ListedObject[] = [];
  for await (const object of store.list()) found.push(object);
  const listed = found.toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
  expect(listed.map(({ oid, size }) => ({ oid, size }))).toEqual([one, other]);
  expect(listed.map(({ lastUsedAt }) => lastUsedAt > Date.now() - 60_000)).toEqual([false, true]);
  await store.remove(other.oid);
  await store.touch(other.oid);
  expect(await store.find(other.oid)).toBeUndefined();
});

test('a part that was not resumed for a week is removed', async () => {
  const { folder, store } = await openStore();
  for (const content of [bytes, bytes.subarray(1)]) {
    const partial = await store.openPartial(objectName(content));
    await partial.write(content.subarray(0, half));
    await partial.close();
  }
  const week = new Date(Date.now() - 8 * 24 * 60 * 60 * 1_000);
  await utimes(join(objectsFolder(folder), 'game', 'incomplete', name.oid), week, week);
  await store.removeOldPartials();
  expect(await partials(folder)).toEqual([objectName(bytes.subarray(1)).oid]);
});
