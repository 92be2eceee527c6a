import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LfsError } from '../../../../src/service/syncs/lfs-objects.ts';
import { nameOf, pointerTo } from '../../../support/lfs-store.ts';
import type { Answer } from '../../../support/other-servers/other-server.ts';
import { drip, nothing, raw, silence } from '../../../support/other-servers/responses.ts';
import { objectsSetUp, oidOf } from './set-up.ts';

const bytes = randomBytes(200_000);
const half = bytes.length / 2;

/** A project with one file, which is the only object of the store. */
async function oneObject() {
  const setUp = await objectsSetUp();
  const name = setUp.store.put(bytes);
  setUp.point({ 'Content/Hero.uasset': name });
  return { ...setUp, name };
}

/** Responds to the first requests with this response, and normally to all later ones. */
function firstTimes(times: number, answer: Answer): () => Answer | undefined {
  let done = 0;
  return () => {
    done += 1;
    return done <= times ? answer : undefined;
  };
}

const breakingOffAt =
  (length: number): Answer =>
  (response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, length), () => setTimeout(() => response.destroy(), 20));
  };

const sendingHalf: Answer = (response) => {
  response.writeHead(200, { 'content-length': bytes.length });
  response.write(bytes.subarray(0, half));
};

/** The id of an ended thread: https://nodejs.org/api/worker_threads.html#workerthreadid */
const endedThread = -1;

/** Collects all threads that are started until the test ends. */
function startedThreads(): readonly Worker[] {
  const threads: Worker[] = [];
  const add = (thread: Worker): void => void threads.push(thread);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return threads;
}

describe('a sync', () => {
  test('fetches each object of the branch once, in batches of hundreds', async () => {
    const { store, point, fetch, objects, repository } = await objectsSetUp();
    const contents = Array.from({ length: 450 }, (_, index) => `object ${index}`);
    const names = contents.map((content) => store.put(content));
    point({ 'old.uasset': store.put('no longer there') });
    repository.commit({
      branch: 'main',
      from: 'main',
      files: { 'old.uasset': 'a file', 'notes.txt': `${pointerTo(nameOf(''))} ` },
    });
    point(Object.fromEntries([...names, ...names.slice(0, 9)].map((name, index) => [`Content/${index}.uasset`, name])));

    const progress: { readonly wanted: unknown; readonly received: unknown }[] = [];
    const fetched = await fetch({ onProgress: (now) => progress.push(structuredClone(now)) });
    const all = { objects: 450, bytes: contents.join('').length };
    expect(fetched).toEqual({ wanted: all, received: all, missing: { count: 0, named: [] } });
    expect([progress[0], progress.at(-1)]).toEqual([
      { wanted: all, received: { objects: 0, bytes: 0 } },
      { wanted: all, received: all },
    ]);
    expect([store.authorizations.length, store.downloads.length]).toEqual([3, 450]);
    for (const [index, name] of names.entries()) {
      const found = await objects.find(oidOf(name));
      expect(await readFile(found?.path ?? '', 'utf8')).toBe(contents[index]);
    }
    expect(await fetch()).toMatchObject({ wanted: { objects: 0 } });
    expect(store.authorizations).toHaveLength(3);

    expect(await fetch({ mode: 'history' })).toMatchObject({ received: { objects: 1 } });
  });

  test('fetches earlier objects only while there is room, and does not record them as used', async () => {
    const { store, point, fetch, objects } = await objectsSetUp();
    const names = ['oldest', 'older', 'newest'].map((content) => store.put(content.padEnd(100)));
    for (const name of names) point({ 'Hero.uasset': name });
    const found = () => Promise.all(names.map((name) => objects.find(oidOf(name))));
    const stored = async () => (await found()).map((each) => each !== undefined);
    const within = (bytes: number) => fetch({ mode: 'history', remainingBytes: async () => bytes });
    expect(await within(0)).toMatchObject({ wanted: { objects: 1 } });
    expect(await stored()).toEqual([false, false, true]);
    await within(199);
    expect(await stored()).toEqual([false, true, true]);
    for (const each of await found()) if (each) await utimes(each.path, new Date(0), new Date(0));
    await within(0);
    expect((await found()).map((each) => each && each.lastUsedAt > 0)).toEqual([undefined, false, true]);
  });

  test('sends no request to the store if there are no objects or none are wanted', async () => {
    const { store, fetch, point, repository } = await objectsSetUp();
    repository.commit({ branch: 'main', files: { 'a.txt': 'a file' } });
    expect(await fetch({ lfsUrl: 'http://127.0.0.1:1/nowhere' })).toMatchObject({ wanted: { objects: 0 } });
    point({ 'a.uasset': store.put('an object') });
    expect(await fetch({ mode: 'none' })).toMatchObject({ wanted: { objects: 0 } });
    expect(store.authorizations).toEqual([]);
  });

  test('fetches an object again whose file is damaged', async () => {
    const { fetch, objects, name } = await oneObject();
    await fetch();
    const path = (await objects.find(oidOf(name)))?.path ?? '';
    await truncate(path, half);
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
    expect(await readFile(path)).toEqual(bytes);
  });

  test('stores an empty object without a download', async () => {
    const { store, fetch, point, objects } = await objectsSetUp();
    point({ 'empty.uasset': store.put('') });
    await fetch();
    expect([await objects.find(oidOf(nameOf(''))), store.downloads]).toEqual([
      expect.objectContaining({ size: 0 }),
      [],
    ]);
  });
});

describe('a sync', () => {
  test.each<readonly [string, string, Answer]>([
    ['is missing in the store', 'does not have it', nothing(404)],
    ['is refused', 'status 403', nothing(403)],
    ['has different content', 'content does not match its hash', raw(200, randomBytes(bytes.length))],
    ['is too long', 'more than its 200000 bytes', raw(200, Buffer.concat([bytes, bytes]))],
    ['is too short', 'only 100000 of its 200000 bytes', raw(200, bytes.subarray(0, half))],
    ['is cut off', 'did not send all of it', breakingOffAt(1_000)],
    ['never arrives', 'did not send all of it', silence],
    ['arrives too slowly', 'too slowly', drip('body')],
    ['fails with a server error', 'status 500', nothing(500)],
    ['redirects forever', 'redirects too often', nothing(302, { location: '/again' })],
  ])('succeeds without an object that %s, and fetches it the next time', async (_name, detail, answer) => {
    const { store, fetch, point, name, objects } = await oneObject();
    point({ 'Content/Other.uasset': store.put('another') });
    store.behaviour.download = ({ url }) => (url.endsWith(name.oid) || url === '/again' ? answer : undefined);
    const { received, missing } = await fetch({ idleMs: 300 });
    expect(received).toEqual({ objects: 1, bytes: 'another'.length });
    expect(missing).toEqual({
      count: 1,
      named: [{ path: 'Content/Hero.uasset', oid: name.oid, size: name.size, detail: expect.stringContaining(detail) }],
    });
    expect(await objects.find(oidOf(name))).toBeUndefined();

    store.behaviour.download = undefined;
    expect(await fetch()).toMatchObject({ received: { objects: 1, bytes: bytes.length }, missing: { count: 0 } });
  });

  test('succeeds without objects that the store does not have, and names some of them', async () => {
    const { store, fetch, point } = await objectsSetUp();
    point(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.uasset`, nameOf(`object ${index}`)])));
    const { missing } = await fetch();
    expect([missing.count, missing.named.length, store.downloads.length]).toEqual([30, 10, 0]);
    expect(missing.named[0]?.detail).toBe('The store does not have it.');
  });
});

describe('a download', () => {
  test('resumes if the store supports ranges, and starts again otherwise', async () => {
    const { store, fetch, objects, name } = await oneObject();
    store.behaviour.download = firstTimes(1, breakingOffAt(half));
    expect(await fetch()).toMatchObject({ received: { objects: 1, bytes: bytes.length } });
    expect(store.downloads.map(({ headers }) => headers.range !== undefined)).toEqual([false, true]);
    for (const cannot of [
      () => raw(200, bytes),
      firstTimes(1, nothing(416)),
      firstTimes(1, raw(206, bytes, { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}` })),
    ]) {
      await objects.remove(oidOf(name));
      const partial = await objects.openPartial({ oid: oidOf(name), size: name.size });
      await partial.write(bytes.subarray(0, half));
      await partial.close();
      store.behaviour.download = cannot;
      expect(await fetch()).toMatchObject({ received: { objects: 1 }, missing: { count: 0 } });
    }
  });

  test('starts again from the first byte if the kept part is damaged', async () => {
    const { store, fetch, name, objects, incomplete } = await oneObject();
    const partial = await objects.openPartial({ oid: oidOf(name), size: name.size });
    await partial.write(Buffer.alloc(half));
    await partial.close();
    expect(await readdir(incomplete)).toEqual([name.oid]);
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
    expect(store.downloads.map(({ headers }) => headers.range !== undefined)).toEqual([true, false]);
  });

  test('waits as long as a busy store asks, and sends it no other requests', async () => {
    const { store, fetch } = await oneObject();
    store.behaviour.batch = firstTimes(1, nothing(429, { 'retry-after': '1' }));
    store.behaviour.download = firstTimes(1, nothing(503, { 'retry-after': '1' }));
    const began = performance.now();
    expect(await fetch()).toMatchObject({ received: { objects: 1 }, missing: { count: 0 } });
    expect(performance.now() - began).toBeGreaterThan(2_000);
    // Each is asked once more, and the store is asked for the URL again.
    expect([store.authorizations.length, store.downloads.length]).toEqual([3, 2]);
  });

  test('requests a new URL if its URL has expired', async () => {
    const { store, fetch } = await oneObject();
    store.behaviour.action = ({ href }) => ({
      href: href.replace('/objects/', `/${store.authorizations.length}/`),
      expires_in: 900,
    });
    store.behaviour.download = ({ url }) => (url.startsWith('/1/') ? nothing(403) : undefined);
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
    expect(store.authorizations).toHaveLength(2);
  });

  test('is requested in smaller batches from a store that rejects large ones', async () => {
    const { store, fetch, point } = await objectsSetUp();
    point(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.uasset`, store.put(`object ${index}`)])),
    );
    store.behaviour.batch = (_request, objects) => (objects.length > 30 ? nothing(413) : undefined);
    expect(await fetch()).toMatchObject({ received: { objects: 100 } });
  });

  test('stops with the sync, and the next sync resumes it', async () => {
    const { store, fetch, name, incomplete } = await oneObject();
    const threads = startedThreads();
    const stopping = new AbortController();
    store.behaviour.download = () => sendingHalf;
    const ended = fetch({
      idleMs: 600_000,
      signal: stopping.signal,
      onProgress: ({ received }) => {
        if (received.bytes === half) stopping.abort(new Error('enough'));
      },
    });
    await expect(ended).rejects.toThrow('enough');
    expect(await readdir(incomplete)).toEqual([name.oid]);
    expect(threads.map(({ threadId }) => threadId)).toEqual([endedThread]);
    store.behaviour.download = undefined;
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
    expect(store.downloads.at(-1)?.headers.range).toBe(`bytes=${half}-`);
  });

  test('fails the sync if the download thread dies, and the next sync succeeds', async () => {
    const { store, fetch } = await oneObject();
    const threads = startedThreads();
    store.behaviour.download = () => sendingHalf;
    const ended = fetch({
      onProgress: ({ received }) => {
        if (received.bytes === half) for (const thread of threads) void thread.terminate();
      },
    });
    await expect(ended).rejects.toThrow(LfsError);
    await expect(ended).rejects.toThrow('The thread that downloads LFS objects died.');
    store.behaviour.download = undefined;
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
  });

  test('leaves complete objects if two services fetch into one folder', async () => {
    const { store, fetch, point, objects, incomplete } = await objectsSetUp();
    const contents = Array.from({ length: 60 }, (_, index) => randomBytes(20_000 + index));
    point(Object.fromEntries(contents.map((content, index) => [`${index}.uasset`, store.put(content)])));
    const both = await Promise.all([fetch(), fetch()]);
    for (const { missing, received, wanted } of both) expect([missing.count, received]).toEqual([0, wanted]);
    for (const content of contents) {
      const found = await objects.find(oidOf(nameOf(content)));
      expect(await readFile(found?.path ?? '')).toEqual(content);
    }
    expect(await readdir(incomplete)).toEqual([]);
  });

  test('does not start on a disk that is nearly full', async () => {
    const { fetch, store } = await oneObject();
    const freeDisk = { isLow: () => true, reserve: '1 GiB' };
    await expect(fetch({ freeDisk })).rejects.toThrow('less than 1 GiB are free');
    expect(store.downloads).toEqual([]);
  });

  test('fails the sync with a reason if it cannot be written to the disk', async () => {
    const { fetch, data } = await oneObject();
    await mkdir(data);
    await writeFile(join(data, 'lfs'), '');
    await expect(fetch()).rejects.toThrow('cannot be stored in the data folder: a part of its path is a file');
  });
});

describe('a sync', () => {
  /** Lets responses take any time. */
  const idleMs = 60_000;
  const message = JSON.stringify({ message: 'The budget for LFS is used up.' });
  test.each<readonly [string, string, Answer]>([
    ['requires credentials', 'requires credentials, and the service has none for it', nothing(401)],
    ['responds 404', 'responded with status 404', nothing(404)],
    ['explains why it refuses', 'It says: The budget for LFS is used up.', raw(509, message)],
    ['redirects batches', 'Set --lfs-url to its target', nothing(307, { location: '/elsewhere' })],
    ['keeps failing', 'cannot be reached: it responded with status 502', nothing(502)],
    ['is busy for too long', 'asks for a pause', nothing(429, { 'retry-after': '3600' })],
    ['is not an LFS store', 'the format of the Git LFS batch API', raw(200, Buffer.from('<html>'))],
    ['sends a response that is too long', 'larger than 16384 KiB', raw(200, Buffer.alloc(17 * 1_024 * 1_024))],
    [
      'supports only another transfer',
      'does not offer basic transfers',
      raw(200, Buffer.from('{"transfer":"tus","objects":[]}')),
    ],
  ])('fails with the reason if the store %s', async (_name, reason, answer) => {
    const { fetch, store } = await oneObject();
    store.behaviour.batch = () => answer;
    await expect(fetch({ idleMs })).rejects.toThrow(reason);
  });

  test('fails if the store does not respond', async () => {
    const { fetch, store } = await oneObject();
    store.behaviour.batch = () => silence;
    await expect(fetch({ idleMs: 300 })).rejects.toThrow('cannot be reached: it does not respond in time');
  });

  test('fails if the store has no URL, or if nothing listens there', async () => {
    const { fetch, store } = await oneObject();
    await expect(fetch({ lfsUrl: null })).rejects.toThrow('their URL is unknown');
    await store.close();
    await expect(fetch()).rejects.toThrow('cannot be reached: nothing is listening on its host and port');
  });

  test('fails if many objects in a row fail', async () => {
    const { fetch, store, point } = await objectsSetUp();
    point(
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.uasset`, store.put(`object ${index}`)])),
    );
    store.behaviour.download = () => nothing(500);
    await expect(fetch()).rejects.toThrow('16 objects in a row failed');
  });
});

test('the total size that pointers claim is capped at the largest safe integer', async () => {
  const { store, point, fetch } = await objectsSetUp();
  const claimed = (index: number) => ({ ...store.put(Buffer.from(String(index))), size: 2 ** 40 });
  point(Object.fromEntries(Array.from({ length: 8_200 }, (_, index) => [`${index}`, claimed(index)])));
  const ending = new AbortController();
  let bytes = 0;
  const onProgress = ({ wanted }: { readonly wanted: { readonly bytes: number } }) => {
    bytes = wanted.bytes;
    ending.abort();
  };
  await expect(fetch({ onProgress, signal: ending.signal })).rejects.toThrow();
  expect(bytes).toBe(Number.MAX_SAFE_INTEGER);
});
