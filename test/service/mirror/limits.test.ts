import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { revokeToken } from '../../../src/service/tokens/tokens.ts';
import { createExchangedToken } from '../../../src/service/trust/exchange.ts';
import { removeTrustRule } from '../../../src/service/trust/rules.ts';
import { sqlite } from '../../support/databases.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { gitAt, manyCommits } from '../../support/git-repository.ts';
import { listenHere } from '../../support/listen.ts';
import type { RunningService } from '../../support/running-service.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { operator, trustJobs } from '../../support/trusted-jobs.ts';
import { locksOf, type SharedService, sharedService } from '../http/shared-service.ts';
import { fetchOf, gitClient, type Mirrored, mirrored, packets, uploadPackType } from './mirror-of.ts';

const folder = folderOfTests();
const megabyte = 2 ** 20;

/** A mirror with more data than the sockets of a connection can hold. */
async function largeMirror(service: SharedService): Promise<Mirrored> {
  const mirror = await mirrored(service, folder, service.secret);
  // Otherwise git would look for deltas between the files.
  mirror.remote.git('config', 'core.bigFileThreshold', '1k');
  mirror.remote.git('config', 'core.compression', '0');
  const files = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`${index}`, randomBytes(megabyte)]));
  mirror.remote.commit({ branch: 'main', files });
  await mirror.sync();
  return mirror;
}

interface Stalled {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** A client that requests everything, and reads only the start of the response. */
async function stalledClone(service: RunningService, { path, remote }: Mirrored, token: string): Promise<Stalled> {
  const body = fetchOf(remote.head('main'));
  const asked = request(`${service.baseUrl}${path}/git-upload-pack`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': uploadPackType,
      'content-length': Buffer.byteLength(body),
      'git-protocol': 'version=2',
    },
  });
  asked.end(body);
  asked.on('error', () => undefined);
  onTestFinished(() => void asked.destroy());
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return { request: asked, response };
}

const revocable = sharedService(sqlite, { mirrorLimits: { checkTokenEveryMs: 100 } });

const packing = (service: RunningService) =>
  processesNaming(service.dataFolder).filter(({ commandLine }) => commandLine.includes('upload-pack'));

async function outcomes(service: SharedService): Promise<Readonly<Record<string, number>>> {
  const { text } = await service.ask('GET', '/metrics', { token: service.secret });
  const fetches = text.matchAll(/^workspace_git_requests_total\{request="fetch",outcome="([\w-]+)"\} ([1-9]\d*)$/gm);
  return Object.fromEntries([...fetches].map(([, outcome, count]) => [outcome, Number(count)]));
}

async function metric(service: SharedService, name: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics', { token: service.secret });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

describe('a client', () => {
  const service = sharedService();

  test('stalls git if it reads nothing, and ends git if it disconnects', async () => {
    const mirror = await largeMirror(service);
    const { request: asked } = await stalledClone(service, mirror, service.secret);
    // Without backpressure, git would already have written everything.
    await sleep(1_000);
    expect(packing(service)).not.toEqual([]);
    expect(await metric(service, 'workspace_git_serving')).toBe(1);
    asked.destroy();
    await expect.poll(() => packing(service)).toEqual([]);
    await expect.poll(() => outcomes(service)).toMatchObject({ gone: 1 });
    expect(await metric(service, 'workspace_git_sent_bytes_total')).toBeLessThan(14 * megabyte);
    expect(await metric(service, 'workspace_git_serving')).toBe(0);
    expect(service.log()).toMatch(/"outcome":"gone"/);
  });

  test('completes its clone while the packs that it reads are replaced', async () => {
    const mirror = await largeMirror(service);
    mirror.remote.commit(...manyCommits(20));
    await mirror.sync();
    const pause = Promise.withResolvers<void>();
    const paused = Promise.withResolvers<void>();
    const proxy = createServer((incoming) => {
      const outgoing = connect(service.port, '127.0.0.1');
      incoming.pipe(outgoing);
      let passed = 0;
      outgoing.on('data', (chunk: Buffer) => {
        passed += chunk.length;
        incoming.write(chunk);
        if (passed < megabyte) return;
        outgoing.pause();
        paused.resolve();
        void pause.promise.then(() => outgoing.resume());
      });
      outgoing.on('end', () => incoming.end());
      outgoing.on('error', () => undefined);
    });
    const { port, close } = await listenHere(proxy);
    onTestFinished(close);
    const client = await gitClient();
    const clone = client.git('clone', '--quiet', '--bare', mirror.url.replace(`:${service.port}`, `:${port}`), 'game');
    await paused.promise;
    const repository = join(service.dataFolder, 'mirrors', `${mirror.workspace}.git`);
    const packsOf = () => gitAt(repository, 'count-objects', '-v').match(/^packs: .*/m)?.[0];
    gitAt(repository, 'repack', '-a', '-d', '--quiet');
    expect(packsOf()).toBe('packs: 1');
    pause.resolve();
    await clone;
    gitAt(join(client.folder, 'game'), 'fsck', '--full', '--strict');
    expect(gitAt(join(client.folder, 'game'), 'rev-parse', 'main').trim()).toBe(mirror.remote.head('main'));
  });
});

describe('a clone that takes too long', () => {
  const impatient = sharedService(sqlite, { mirrorLimits: { cloneTimeoutMs: 1_000 } });
  const strict = sharedService(sqlite, { mirrorLimits: { maxMsPerChunk: 300 } });

  test.each([
    ['in total', () => impatient, 'timeout'],
    ['for one piece, because its client is slow', () => strict, 'too-slow'],
  ] as const)('is cut off, and ends its git process: %s', async (_, which, outcome) => {
    const service = which();
    const mirror = await largeMirror(service);
    const { response } = await stalledClone(service, mirror, service.secret);
    await expect.poll(() => packing(service)).toEqual([]);
    await expect.poll(() => outcomes(service)).toEqual({ [outcome]: 1 });
    await expect(buffer(response)).rejects.toThrow('aborted');
  });
});

test('a clone ends if its token is revoked, and the clone of another token continues', async () => {
  const mirror = await largeMirror(revocable);
  const { storage } = revocable;
  const { id, secret } = await revocable.token({ scopes: ['contents:read'] });
  const revoked = await stalledClone(revocable, mirror, secret);
  const { response } = await stalledClone(revocable, mirror, revocable.secret);
  await storage.commit('global', (db) => revokeToken(db, storage.now, id));
  // Otherwise the rest could be read before the next check of the token.
  await expect.poll(() => outcomes(revocable)).toEqual({ refused: 1 });
  await expect(buffer(revoked.response)).rejects.toThrow('aborted');
  expect((await buffer(response)).length).toBeGreaterThan(16 * megabyte);
});

test('a clone ends if the trust rule of its token is removed', async () => {
  const mirror = await largeMirror(revocable);
  const { storage } = revocable;
  const rule = await trustJobs(revocable, { url: 'https://issuer.example.com' });
  const run = { id: 'run_1', name: 'run', origin: null };
  const identity = { id: 'a JWT', endsAt: Date.now() + 60_000 };
  const secret = await storage.commit('global', (db) =>
    createExchangedToken(db, storage.now, run, { rule, scopes: ['contents:read'] }, identity),
  );
  const { response } = await stalledClone(revocable, mirror, secret ?? '');
  await storage.commit('global', (db) => removeTrustRule(db, storage.now, operator, rule.id));
  // Otherwise the rest could be read before the next check of the token.
  await expect.poll(() => packing(revocable)).toEqual([]);
  await expect(buffer(response).then(({ length }) => length)).rejects.toThrow('aborted');
});

describe('the limit of parallel clones', () => {
  const service = sharedService(sqlite, { parallelClones: 4, mirrorLimits: { maxWaitMs: 500 } });

  test('is shared among owners: two tokens of one owner get no more than one', async () => {
    const mirror = await largeMirror(service);
    const tokens = await Promise.all(['a', 'b'].map((name) => service.token({ name, owner: 'guest' })));
    const [one, other] = tokens.map(({ secret }) => secret);
    const held = await Promise.all([one, one, other].map((secret = '') => stalledClone(service, mirror, secret)));
    const client = await gitClient();
    expect(await client.refused('clone', '--bare', mirror.url.replace(service.secret, other ?? ''), 'no')).toContain(
      'The maximum number of clones',
    );
    await client.git('clone', '--quiet', '--bare', mirror.url, 'of-another-owner');
    for (const { request: asked } of held) asked.destroy();
    await expect.poll(() => packing(service)).toEqual([]);
  });

  test('is shared among tokens, and a clone that waits too long gets the reason', async () => {
    const mirror = await largeMirror(service);
    const [one, other] = [await service.token({ name: 'one' }), await service.token({ name: 'other' })];
    const urlOf = ({ secret }: { readonly secret: string }): string => mirror.url.replace(service.secret, secret);
    const held = await Promise.all([1, 2, 3].map(() => stalledClone(service, mirror, one.secret)));
    const client = await gitClient();
    expect(await client.refused('clone', '--bare', urlOf(one), 'refused')).toContain(
      'fatal: remote error: The maximum number of clones is running. Try again in a minute.',
    );
    await client.git('clone', '--quiet', '--bare', urlOf(other), 'of-other');
    expect(await client.git('ls-remote', urlOf(one))).toContain('refs/heads/main');
    const waiting = client.git('clone', '--quiet', '--bare', urlOf(one), 'waits');
    held[0]?.request.destroy();
    await waiting;
    expect(await outcomes(service)).toMatchObject({ busy: 2, served: 3 });
  });
});

/** Starts a request that announces a body, and sends only the beginning of it. */
function startedRequest(service: RunningService, { path }: Mirrored, token: string, body = ''): ClientRequest {
  const asked = request(`${service.baseUrl}${path}/git-upload-pack`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': uploadPackType, 'content-length': 4 * megabyte },
  });
  asked.on('error', () => undefined);
  onTestFinished(() => void asked.destroy());
  asked.flushHeaders();
  if (body !== '') asked.write(body);
  return asked;
}

describe('slow requests', () => {
  const usual = sharedService();
  const service = sharedService(sqlite, { mirrorLimits: { maxRequestBytes: 4_000 } });

  const list = (of: SharedService, { path }: Mirrored) =>
    of.ask('POST', `${path}/git-upload-pack`, {
      token: of.secret,
      raw: packets('command=ls-refs', '0000'),
      headers: { 'content-type': uploadPackType, 'git-protocol': 'version=2' },
    });

  test('use only the memory that they have filled, not the announced size', async () => {
    const mirror = await mirrored(usual, folder, usual.secret);
    const { secret } = await usual.token({ owner: 'guest' });
    const connected = Array.from({ length: 40 }, () => once(startedRequest(usual, mirror, secret), 'socket'));
    await Promise.all(connected);
    await sleep(500);
    expect((await list(usual, mirror)).status).toBe(200);
  });

  test('leave room for those of other owners', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    const { secret } = await service.token({ owner: 'guest' });
    const answers = [1, 2].map(async () => {
      const [response] = await once(startedRequest(service, mirror, secret, '0000'.repeat(500)), 'response');
      return (response as IncomingMessage).statusCode;
    });
    // One of them is never complete.
    for (const answer of answers) answer.catch(() => undefined);
    await expect(Promise.race(answers)).resolves.toBe(503);
    expect((await list(service, mirror)).status).toBe(200);
  });
});

describe('requests that exceed the buffer limit together', () => {
  const service = sharedService(sqlite, { mirrorLimits: { maxRequestBytes: 40 } });

  test('get 503, and later requests succeed', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    const ask = (raw: string) =>
      service.ask('POST', `${mirror.path}/git-upload-pack`, {
        token: service.secret,
        raw,
        headers: { 'content-type': uploadPackType, 'git-protocol': 'version=2' },
      });
    for (let times = 0; times < 2; times += 1) {
      expect((await ask(packets('command=ls-refs', '0000'))).status).toBe(200);
      const { status, text } = await ask('0'.repeat(44));
      expect([status, text]).toEqual([503, expect.stringContaining('The maximum number of clones')]);
    }
  });
});

describe('fifty parallel clones', () => {
  const service = sharedService();

  test('all succeed, and lock requests are answered in the meantime', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    mirror.remote.commit(...manyCommits(500));
    await mirror.sync();
    const client = await gitClient();
    const locks = locksOf(service, mirror.workspace, service.secret);
    let left = 50;
    const clones = Array.from({ length: left }, (_, index) =>
      client.git('clone', '--quiet', '--bare', mirror.url, `clone-${index}`).finally(() => {
        left -= 1;
      }),
    );
    const tookMs: number[] = [];
    while (left > 0) {
      const began = performance.now();
      const path = `Content/${tookMs.length}.uasset`;
      expect((await locks.take(path)).status).toBe(201);
      expect((await locks.release(path)).status).toBe(204);
      tookMs.push(performance.now() - began);
      await sleep(20);
    }
    await Promise.all(clones);
    for (const index of clones.keys()) {
      const clone = join(client.folder, `clone-${index}`);
      expect(gitAt(clone, 'rev-parse', 'main').trim()).toBe(mirror.remote.head('main'));
    }
    expect(tookMs.length).toBeGreaterThan(10);
    expect(Math.max(...tookMs)).toBeLessThan(5_000);
    expect(await outcomes(service)).toEqual({ served: 50 });
    await expect.poll(() => readdir(join(service.dataFolder, 'scratch'))).toEqual([]);
  });
});
