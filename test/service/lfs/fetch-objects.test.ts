import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readLfsProgress } from '../../../src/service/git/lfs.ts';
import type { Remote } from '../../../src/service/git/remote.ts';
import { createFetchObjects, type FetchObjectsParts } from '../../../src/service/lfs/fetch-objects.ts';
import { createObjectStore } from '../../../src/service/lfs/object-store.ts';
import { type Oid, parseOid } from '../../../src/service/lfs/pointer.ts';
import type { FetchedObjects } from '../../../src/service/syncs/wanted-objects.ts';
import { endlessDisk } from '../../support/endless-disk.ts';
import { startGitHttpsServer } from '../../support/git-https-server.ts';
import { branchNamed, enoughTime, gitIn, gitSetUp, remoteAt } from '../../support/git-service.ts';
import { fakeSsh } from '../../support/git-ssh.ts';
import { nameOf, pointerTo, type StoredName, startLfsStore } from '../../support/lfs-store.ts';
import type { Answer } from '../../support/other-servers/other-server.ts';
import { drip, nothing, raw, silence } from '../../support/other-servers/responses.ts';
import { valueIn } from '../../support/value-in.ts';
import { needsClient } from './desk.ts';

beforeEach(needsClient);

interface FetchOptions extends Partial<FetchObjectsParts> {
  readonly signal?: AbortSignal;
  readonly mode?: string;
  readonly lfsUrl?: string | null;
  readonly remote?: Remote;
  readonly onProgress?: (progress: Pick<FetchedObjects, 'wanted' | 'received'>) => void;
}

const oidOf = ({ oid }: StoredName): Oid => valueIn(parseOid(oid));

/** A remote whose files are pointers, a store with their objects, and the data folder of a service. */
async function objectsSetUp() {
  const setUp = await gitSetUp();
  const { git, repository, data } = setUp;
  const store = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const branch = branchNamed('main');
  return {
    ...setUp,
    store,
    objects: createObjectStore(data, { id: 'game', created_at: 1 }),
    /** Commits pointers to objects at these paths. */
    point(files: Readonly<Record<string, StoredName>>): void {
      const pointers = Object.entries(files).map(([path, object]) => [path, pointerTo(object)] as const);
      repository.commit({ branch: 'main', files: Object.fromEntries(pointers) });
    },
    async fetch(options: FetchOptions = {}): Promise<FetchedObjects> {
      const { signal = new AbortController().signal, mode = null } = options;
      const { remote = setUp.remote, lfsUrl = store.url, onProgress = () => undefined, ...parts } = options;
      const { head } = await git.fetch('game', remoteAt(repository.path), branch, enoughTime);
      const fetchObjects = createFetchObjects({
        git,
        dataFolder: data,
        freeDisk: endlessDisk,
        ...parts,
      });
      const settings = { created_at: 1, lfs_url: lfsUrl, lfs_mode: mode };
      return fetchObjects({ workspace: 'game', branch, head, remote, settings }, { ...enoughTime, signal }, onProgress);
    },
  };
}

const bytes = randomBytes(200_000);

/** A project with one file, which is the only object of the store. */
async function oneObject() {
  const setUp = await objectsSetUp();
  const name = setUp.store.put(bytes);
  setUp.point({ 'Content/Hero.uasset': name });
  return { ...setUp, name };
}

describe('a sync', () => {
  test('fetches each object of the head of a branch once', async () => {
    const { store, point, fetch, objects, repository, data } = await objectsSetUp();
    const contents = Array.from({ length: 250 }, (_, index) => `object ${index}`);
    const names = contents.map((content) => store.put(content));
    point({ 'old.uasset': store.put('no longer there') });
    const files = { 'old.uasset': 'a file', 'notes.txt': `${pointerTo(nameOf(''))} ` };
    repository.commit({ branch: 'main', from: 'main', files });
    point(Object.fromEntries([...names, ...names.slice(0, 9)].map((name, index) => [`Content/${index}.uasset`, name])));

    const progress: { readonly wanted: unknown; readonly received: unknown }[] = [];
    const fetched = await fetch({ onProgress: (now) => progress.push(now) });
    const all = { objects: 250, bytes: contents.join('').length };
    expect(fetched).toEqual({ wanted: all, received: all, missing: { count: 0, named: [] } });
    expect(progress[0]).toEqual({ wanted: all, received: { objects: 0, bytes: 0 } });
    expect(progress.at(-1)).toMatchObject({ received: { objects: 250 } });
    for (const [index, name] of names.entries()) {
      const found = await objects.find(oidOf(name));
      expect(await readFile(found?.path ?? '', 'utf8')).toBe(contents[index]);
    }
    expect(await readdir(join(data, 'scratch'))).toEqual([]);
    const asked = store.authorizations.length;
    expect(await fetch()).toMatchObject({ wanted: { objects: 0 } });
    expect(store.authorizations).toHaveLength(asked);
    expect(store.downloads).toHaveLength(250);
  });

  test('sends no request to the store if there are no objects or none are wanted', async () => {
    const { store, fetch, point, repository } = await objectsSetUp();
    repository.commit({ branch: 'main', files: { 'a.txt': 'a file', 'empty.uasset': pointerTo(nameOf('')) } });
    expect(await fetch({ lfsUrl: 'http://127.0.0.1:1/nowhere' })).toMatchObject({ wanted: { objects: 0 } });
    point({ 'a.uasset': store.put('an object') });
    expect(await fetch({ mode: 'none' })).toMatchObject({ wanted: { objects: 0 } });
    expect(store.authorizations).toEqual([]);
  });

  test('fetches an object again whose file is damaged', async () => {
    const { fetch, objects, name } = await oneObject();
    await fetch();
    const path = (await objects.find(oidOf(name)))?.path ?? '';
    await truncate(path, bytes.length / 2);
    expect(await fetch()).toMatchObject({ received: { objects: 1 } });
    expect(await readFile(path)).toEqual(bytes);
  });

  test('is not set up by any file of the repository', async () => {
    const { fetch, repository, store } = await oneObject();
    const evil = await startLfsStore({ public: true });
    onTestFinished(evil.close);
    evil.put(bytes);
    const lfs = `url = ${evil.url}\n\tpushurl = ${evil.url}\n\tfetchexclude = *\n\tskipdownloaderrors = true`;
    const lfsconfig = `[lfs]\n\t${lfs}\n[remote "origin"]\n\tlfsurl = ${evil.url}\n\turl = ${evil.url}\n`;
    const files = { '.lfsconfig': lfsconfig, '.gitattributes': '* -filter\n', '.gitconfig': lfsconfig };
    repository.commit({ branch: 'main', from: 'main', files });
    expect(await fetch()).toMatchObject({ received: { objects: 1 }, missing: { count: 0 } });
    expect([evil.authorizations, evil.downloads, store.downloads.length]).toEqual([[], [], 1]);
  });

  test('says which objects are not mirrored if git-lfs is not installed', async () => {
    const { fetch, data, folder, objects, name, store } = await oneObject();
    const programs = join(folder, 'programs');
    await mkdir(programs);
    for (const program of ['git', 'sh']) await symlink(`/usr/bin/${program}`, join(programs, program));
    const { received, missing } = await fetch({ git: gitIn(data, { PATH: programs }) });
    const detail = expect.stringContaining('Install git-lfs');
    expect(received.objects).toBe(0);
    expect(missing).toEqual({ count: 1, named: [{ path: 'Content/Hero.uasset', ...name, detail }] });
    expect([await objects.find(oidOf(name)), store.authorizations]).toEqual([undefined, []]);
  });

  test.each<readonly [string, Answer | undefined, string]>([
    ['is missing in the store', undefined, 'Object does not exist'],
    ['has different content', raw(200, randomBytes(bytes.length)), 'expected OID'],
  ])('succeeds without an object that %s, and fetches it the next time', async (_name, answer, detail) => {
    const { store, fetch, point, name, objects } = await oneObject();
    point({ 'Content/Other.uasset': store.put('another') });
    if (answer === undefined) store.objects.delete(name.oid);
    else store.behaviour.download = ({ url }) => (url.includes(name.oid) ? answer : undefined);
    store.behaviour.action = ({ href }) => ({ href: `${href}?signature=of-the-store` });
    const { received, missing } = await fetch();
    expect(JSON.stringify(missing)).not.toContain('of-the-store');
    expect(received).toEqual({ objects: 1, bytes: 'another'.length });
    const named = { path: 'Content/Hero.uasset', ...name, detail: expect.stringContaining(detail) };
    expect(missing).toEqual({ count: 1, named: [named] });
    expect(await objects.find(oidOf(name))).toBeUndefined();

    store.put(bytes);
    store.behaviour.download = undefined;
    expect(await fetch()).toMatchObject({ received: { objects: 1, bytes: bytes.length }, missing: { count: 0 } });
  });

  test('names only some of many objects that the store does not have', async () => {
    const { fetch, point } = await objectsSetUp();
    point(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.uasset`, nameOf(`object ${index}`)])));
    const { missing } = await fetch();
    expect([missing.count, missing.named.length]).toEqual([30, 10]);
  });

  test('stops with its signal, leaves no process and no temporary file, and keeps complete objects', async () => {
    const { store, fetch, point, data, name, objects } = await oneObject();
    point({ 'Content/Other.uasset': store.put('another') });
    const stopping = new AbortController();
    const left = Promise.withResolvers<void>();
    store.behaviour.download = (_request, { oid }) => {
      if (oid !== name.oid) return undefined;
      return async (response) => {
        response.on('close', left.resolve);
        response.writeHead(200, { 'content-length': bytes.length });
        response.write(bytes.subarray(0, 1_000));
        await expect.poll(() => objects.find(oidOf(nameOf('another')))).toBeDefined();
        stopping.abort(new Error('enough'));
      };
    };
    await expect(fetch({ signal: stopping.signal })).rejects.toThrow();
    await left.promise;
    expect(await readdir(join(data, 'scratch'))).toEqual([]);
    store.behaviour.download = undefined;
    expect(await fetch()).toMatchObject({ wanted: { objects: 1 }, received: { objects: 1 } });
  });

  test('does not start on a disk that is nearly full, and ends while the disk fills up', async () => {
    const { fetch, store, objects, name } = await oneObject();
    let isLow = true;
    const freeDisk = { isLow: () => isLow, reserve: '1 GiB' };
    await expect(fetch({ freeDisk })).rejects.toThrow('less than 1 GiB is free');
    expect(store.authorizations).toEqual([]);
    isLow = false;
    store.behaviour.download = () => {
      isLow = true;
      return drip('body');
    };
    await expect(fetch({ freeDisk })).rejects.toThrow('1 GiB is free');
    expect(await objects.find(oidOf(name))).toBeUndefined();
  });

  test('has days for any amount of objects, and still ends if a store sends them byte by byte', async () => {
    const { fetch, git } = await oneObject();
    let timeoutMs = 0;
    const fetchLfsObjects = async ({ limits }: Parameters<typeof git.fetchLfsObjects>[0]) => {
      timeoutMs = limits.timeoutMs;
    };
    await fetch({ git: { ...git, fetchLfsObjects } });
    const days = timeoutMs / 86_400_000;
    expect([days >= 1, days <= 7]).toEqual([true, true]);
  });

  test('fails with a reason if objects cannot be written to the disk', async () => {
    const { fetch, data } = await oneObject();
    await mkdir(data);
    await writeFile(join(data, 'lfs'), '');
    await expect(fetch()).rejects.toThrow(
      'could not store LFS objects in the data folder: a part of its path is a file',
    );
  });

  test.each<readonly [string, string, Answer]>([
    ['requires credentials', 'git-lfs could not fetch the LFS objects of http://', nothing(401)],
    ['is not an LFS store', 'Expected JSON type', raw(200, Buffer.from('<html>'))],
  ])('fails with the reason if the store %s', async (_name, reason, answer) => {
    const { fetch, store } = await oneObject();
    store.behaviour.batch = () => answer;
    await expect(fetch()).rejects.toThrow(reason);
  });

  test.each(['batch', 'download'] as const)('ends while the store sends nothing to a %s request', async (request) => {
    const { fetch, store, data } = await oneObject();
    store.behaviour[request] = () => silence;
    const reason = 'git could not fetch the LFS objects of http://127.0.0.1';
    const failure = await fetch({ git: gitIn(data, {}, 1_000) }).catch(String);
    expect(failure).toContain(reason);
    expect(failure).toContain('nothing arrived for 1.0 s');
  });

  test('fails if the store has no URL, or nothing listens there', async () => {
    const { fetch, store } = await oneObject();
    await expect(fetch({ lfsUrl: null })).rejects.toThrow('their URL is unknown');
    await store.close();
    await expect(fetch()).rejects.toThrow('connection refused');
  });
});

test('progress of git-lfs is read with its units', () => {
  const read = (amount: string) => readLfsProgress(`Downloading LFS objects:   7% (12/180), ${amount} | 3.1 MB/s   `);
  expect(['0 B', '600 KB', '1.2 GB'].map((amount) => read(amount)?.bytes)).toEqual([0, 600_000, 1_200_000_000]);
  expect([read('1 B')?.objects, readLfsProgress('fetch: Fetching reference refs/heads/main')]).toEqual([12, undefined]);
});

describe('the store of a remote over https', () => {
  const content = 'the hero';
  const hero = nameOf(content);

  /** A remote that is also a store, whose objects are at this host. Both want the credentials. */
  async function httpsSetUp(hostOf: (own: string) => string) {
    const setUp = await objectsSetUp();
    setUp.store.put(content);
    setUp.point({ 'Content/Hero.uasset': hero });
    const server = await startGitHttpsServer({
      folder: setUp.folder,
      async answer(request, response) {
        if (!/\/info\/lfs\/objects\/batch$|^\/objects\//.test(request.url ?? '')) return false;
        if (request.headers.authorization !== basic) {
          response.writeHead(401, { 'www-authenticate': 'Basic realm="here"' }).end();
        } else if (request.url?.startsWith('/objects/')) response.end(content);
        else {
          // Only git-lfs sends it.
          const { objects } = JSON.parse(await text(request)) as { objects: StoredName[] };
          const answered = objects.map(({ oid, size }) => {
            const href = `${hostOf(`https://${server.host}`)}/objects/${oid}`;
            return { oid, size, actions: { download: { href } } };
          });
          response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' });
          response.end(JSON.stringify({ objects: answered }));
        }
        return true;
      },
    });
    const remote = remoteAt(server.address('remote.git', "git:the-p'ss$word"));
    const git = gitIn(setUp.data, { GIT_SSL_CAINFO: server.certificate });
    const authorizations = () => server.requests.map(({ authorization }) => authorization);
    return { ...setUp, remote, git, authorizations };
  }
  const basic = `Basic ${btoa("git:the-p'ss$word")}`;

  test('has the URL of the remote, and receives the credentials of the workspace', async () => {
    const { fetch, remote, git, authorizations } = await httpsSetUp((own) => own);
    const untrusting = await fetch({ lfsUrl: null, remote }).catch(String);
    expect(untrusting).toMatch(/certificate/);
    expect(untrusting).not.toContain('ss$word');
    expect(await fetch({ lfsUrl: null, remote, git })).toMatchObject({ received: { objects: 1 } });
    expect(authorizations()).toContain(basic);
  });

  test('keeps these credentials from other hosts, and from a store that the operator names', async () => {
    const other = await oneObject();
    other.store.put(content);
    other.store.behaviour.download = ({ headers }) =>
      headers.authorization === undefined ? nothing(401, { 'www-authenticate': 'Basic realm="there"' }) : undefined;
    const { fetch, remote, git } = await httpsSetUp(() => other.store.origin);
    await fetch({ lfsUrl: null, remote, git }).catch(() => undefined);
    const sent = other.store.downloads.map(({ headers }) => headers.authorization);
    expect(new Set(sent)).toEqual(new Set([undefined]));

    other.store.behaviour.public = false;
    await expect(other.fetch({ remote })).rejects.toThrow('git-lfs could not fetch');
    expect(new Set(other.store.authorizations)).toEqual(new Set([undefined]));
  });
});

describe('the store of a remote over ssh', () => {
  async function sshSetUp(answer: (port: number) => string) {
    const setUp = await oneObject();
    const { folder, data, store } = setUp;
    const script = join(folder, 'git-lfs-authenticate');
    await writeFile(script, `#!/bin/sh\n[ "$2" = download ] || exit 1\n${answer(store.port)}\n`);
    await chmod(script, 0o755);
    await writeFile(join(folder, 'git-lfs-transfer'), '#!/bin/sh\nexit 1\n');
    const environment = { GIT_SSH_COMMAND: await fakeSsh(folder), PATH: `${folder}:${process.env['PATH']}` };
    return { ...setUp, git: gitIn(data, environment) };
  }

  test.each(['ssh://git@127.0.0.1:2222/studio/game.git', 'git@127.0.0.1:studio/game.git'])(
    'is the one that git-lfs-authenticate of %s returns, with its header',
    async (address) => {
      const header = `"header":{"Authorization":"Basic ${btoa('store-user:store-password')}"}`;
      const { fetch, git, store } = await sshSetUp(
        (port) => `echo '{"href":"http://127.0.0.1:${port}/lfs",${header},"expires_in":900}'`,
      );
      store.behaviour.public = false;
      const remote = remoteAt(address);
      expect(await fetch({ lfsUrl: null, git, remote })).toMatchObject({ received: { objects: 1 } });
    },
  );

  test('fails the sync if the other side refuses', async () => {
    const { fetch, git } = await sshSetUp(() => 'echo "You may not." >&2; exit 1');
    const remote = remoteAt('git@127.0.0.1:studio/game.git');
    await expect(fetch({ lfsUrl: null, git, remote })).rejects.toThrow('You may not.');
  });
});
