import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, stat, utimes, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createUrlSigner } from '../../../src/service/lfs/signed-url.ts';
import { removeWorkspaceInBatches } from '../../../src/service/workspaces/remove-workspace.ts';
import { operator } from '../../support/operator.ts';
import { findRows } from '../../support/stored-rows.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { expectLfsError, lfsOf } from './lfs-of.ts';
import { objectName, ownerOf, storeObject } from './stored-object.ts';

const service = sharedService();
const content = randomBytes(300_000);

/** An object of a new workspace, with its URL from a batch response. */
async function addressed(bytes: Uint8Array = content) {
  const workspace = await service.workspace();
  const object = await storeObject(service.dataFolder, await ownerOf(service, workspace), bytes);
  const { oid, size } = object;
  const { body } = await lfsOf(service, workspace, service.secret).batch([{ oid, size }]);
  const { href } = body.objects[0].actions.download;
  return { ...object, workspace, href: new URL(href) };
}

const refusalOf = async (url: URL, headers: Readonly<Record<string, string>> = {}) =>
  service.ask('GET', url.pathname + url.search, { headers });

describe('an object', () => {
  let object: Awaited<ReturnType<typeof addressed>>;
  beforeAll(async () => {
    object = await addressed();
  });

  test('is downloaded from its URL without a token, and must not be cached by proxies', async () => {
    const response = await fetch(object.href);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(content.length),
      'accept-ranges': 'bytes',
      etag: `"${object.oid}"`,
      'cache-control': 'private',
      'x-content-type-options': 'nosniff',
    });
    const head = await fetch(object.href, { method: 'HEAD', headers: { range: 'bytes=1-2' } });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(content.length),
      '',
    ]);
  });

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=299999-', 299_999, 300_000],
    ['bytes=150000-400000', 150_000, 300_000],
    ['BYTES=1-99', 1, 100],
  ])('is downloaded in part: %s', async (range, start, end) => {
    const response = await fetch(object.href, { headers: { range, 'if-range': `"${object.oid}"` } });
    expect([response.status, response.headers.get('content-range')]).toEqual([206, `bytes ${start}-${end - 1}/300000`]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content.subarray(start, end));
  });

  test.each([
    { range: 'bytes=0-' },
    { range: 'bytes=-5' },
    { range: 'bytes=5-4' },
    { range: 'bytes=0-1,5-6' },
    { range: 'bytes=300000-' },
    { range: 'bytes=1-2', 'if-range': '"another"' },
  ])(
    'is downloaded completely if the range is invalid, has no first byte, is past the end, or of another object: %j',
    async (headers) => {
      const response = await fetch(object.href, { headers });
      expect([response.status, Number(response.headers.get('content-length'))]).toEqual([200, content.length]);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
    },
  );

  test('is downloaded even if it is empty, with a range too', async () => {
    const { href } = await addressed(new Uint8Array());
    expect(await (await fetch(href)).text()).toBe('');
    expect((await fetch(href, { headers: { range: 'bytes=0-' } })).status).toBe(200);
  });

  const other = objectName(Buffer.of(1)).oid;
  type Query = Readonly<Record<string, string>>;

  test.each<[string, (oid: string) => string, (query: Query) => Query]>([
    ['the name of another object', () => other, (query) => query],
    ['a path', () => '..%2f..%2fservice.db', (query) => query],
    ['a later expiry', (oid) => oid, (query) => ({ ...query, expires: String(Number(query['expires']) + 1) })],
    ['an infinite expiry', (oid) => oid, (query) => ({ ...query, expires: 'Infinity' })],
    ['another size', (oid) => oid, (query) => ({ ...query, size: '1' })],
    ['the same size in other digits', (oid) => oid, (query) => ({ ...query, size: `0${query['size']}` })],
    ['half of the signature', (oid) => oid, (query) => ({ ...query, signature: query['signature']?.slice(1) ?? '' })],
    ['no parameters', (oid) => oid, () => ({})],
  ])('is not served if its URL was changed to have %s, even with a token', async (_, nameOf, queryOf) => {
    const query = new URLSearchParams(queryOf(Object.fromEntries(object.href.searchParams)));
    const url = new URL(`${nameOf(object.oid)}?${query}`, object.href);
    for (const token of [undefined, service.secret]) {
      const response = await service.ask('GET', url.pathname + url.search, { token });
      expectLfsError(response, 403);
    }
  });

  test('is not served with a signature for another workspace, or from a mirror that lacks it', async () => {
    const other = await addressed();
    const without = await service.workspace();
    for (const workspace of [other.workspace, without]) {
      const url = new URL(object.href);
      url.pathname = url.pathname.replace(object.workspace, workspace);
      expectLfsError(await refusalOf(url), 403);
    }
    const { oid, size } = object;
    expect((await lfsOf(service, without, service.secret).batch([{ oid, size }])).status).toBe(307);
  });

  test('is not served after its workspace was removed, or its file was damaged', async () => {
    const [removed, changed] = [await addressed(), await addressed()];
    await removeWorkspaceInBatches(service.storage, operator, removed.workspace);
    await writeFile(changed.path, 'damaged');
    for (const { href } of [removed, changed]) {
      expect(expectLfsError(await refusalOf(href), 404)).toContain('objects/batch');
    }
  });

  test('records its last use on download, but not every time', async () => {
    const { href, path } = await addressed();
    const lastUse = async () => (await stat(path)).mtimeMs;
    const set = (secondsAgo: number) => utimes(path, Date.now() / 1_000 - secondsAgo, Date.now() / 1_000 - secondsAgo);
    await set(300);
    await (await fetch(href)).arrayBuffer();
    expect(await lastUse()).toBeLessThan(Date.now() - 200_000);
    await set(900);
    await (await fetch(href)).arrayBuffer();
    expect(await lastUse()).toBeGreaterThan(Date.now() - 60_000);
  });
});

/** The LFS files that this process has open. */
async function openObjects(): Promise<readonly string[]> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(join(service.dataFolder, 'lfs')));
}

/** Downloads the object from this IP address of the machine, and returns its length. */
async function downloadAs(localAddress: string, href: URL): Promise<number> {
  const asked = request(href, { localAddress, agent: false });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return (await buffer(response)).length;
}

test.runIf(process.platform === 'linux')(
  'clients that do not read use little memory, block no other client, and leave no file open',
  async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const { href, size, workspace } = await addressed(randomBytes(32 * 1_024 * 1_024));
    const before = process.memoryUsage().rss;
    const clients = Array.from({ length: 80 }, () => {
      const socket = connect(service.port, '127.0.0.1').pause();
      socket.write(`GET ${href.pathname}${href.search} HTTP/1.1\r\nhost: a\r\n\r\n`);
      return socket;
    });
    // One IP address gets at most this number, so that others can connect.
    await expect.poll(async () => (await openObjects()).length, { timeout: 20_000 }).toBe(64);
    expect(await downloadAs('127.0.0.2', href)).toBe(size);
    expect((await locksOf(service, workspace, service.secret).take('Hero.uasset')).status).toBe(201);
    expect(process.memoryUsage().rss - before).toBeLessThan(16 * size);
    const waiting = downloadAs('127.0.0.1', href);
    for (const client of clients) client.destroy();
    expect(await waiting).toBe(size);
    await expect.poll(openObjects, { timeout: 20_000 }).toEqual([]);
    // Node.js also closes forgotten files, but with a warning.
    expect(warnings.filter(({ message }) => message.includes('garbage collection'))).toEqual([]);
  },
);

test('a URL is rejected if another key signed it, and after it has expired, which the error says', async () => {
  const { workspace, href, oid, size } = await addressed();
  const { secret: key } = (await findRows(service.storage, 'signing_keys'))[0] ?? expect.fail('There is no key.');
  const { text } = createUrlSigner(key, () => Date.now() - 3_601_000).sign(workspace, { oid, size });
  expect(expectLfsError(await refusalOf(new URL(`?${text}`, href)), 403)).toContain('has expired');
  const forged = createUrlSigner('another key', Date.now).sign(workspace, { oid, size });
  expectLfsError(await refusalOf(new URL(`?${forged.text}`, href)), 403);
});
