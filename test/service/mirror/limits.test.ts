import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { processesNaming } from '../../support/git-processes.ts';
import type { RunningService } from '../../support/running-service.ts';
import { revoke } from '../../support/stored-rows.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { type SharedService, sharedService } from '../http/shared-service.ts';
import { fetchOf, gitClient, type Mirrored, mirrored, uploadPackType } from './mirror-of.ts';

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
    },
  });
  asked.end(body);
  asked.on('error', () => undefined);
  onTestFinished(() => void asked.destroy());
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return { request: asked, response };
}

const packing = (service: RunningService) =>
  processesNaming(service.dataFolder).filter(({ commandLine }) => commandLine.includes('upload-pack'));

/** The ends of requests that sent something, in order. */
const ends = (service: SharedService): readonly Readonly<Record<'outcome' | 'error', string> & { bytes: number }>[] =>
  service
    .log()
    .split('\n')
    .filter((line) => /"mirror (?:fetch ended|request failed)"/.test(line))
    .map((line) => JSON.parse(line));

const outcomes = (service: SharedService): readonly string[] => ends(service).map(({ outcome }) => outcome);
const errors = (service: SharedService): readonly string[] => ends(service).map(({ error }) => error);

const service = sharedService();

test('a client stalls git if it reads nothing, and ends git if it disconnects', async () => {
  const mirror = await largeMirror(service);
  const { request: asked } = await stalledClone(service, mirror, service.secret);
  // Without backpressure, git would already have written everything.
  await sleep(1_000);
  expect(packing(service)).not.toEqual([]);
  asked.destroy();
  await expect.poll(() => packing(service)).toEqual([]);
  await expect.poll(() => errors(service)).toEqual(['The client has disconnected.']);
  expect(outcomes(service)).toEqual(['aborted']);
  expect(ends(service)[0]?.bytes).toBeLessThan(14 * megabyte);
});

const impatient = sharedService(sqlite, { mirrorLimits: { cloneTimeoutMs: 1_000 } });
const strict = sharedService(sqlite, { mirrorLimits: { maxMsPerChunk: 300 } });

test.each([
  ['in total', () => impatient, 'timeout', 'git did not serve the mirror within 1.0 s'],
  ['for one piece, because its client is slow', () => strict, 'aborted', 'The client is too slow.'],
] as const)('a clone that takes too long %s is cut off, and ends its git process', async (_, which, outcome, error) => {
  const service = which();
  const mirror = await largeMirror(service);
  const { response } = await stalledClone(service, mirror, service.secret);
  await expect.poll(() => packing(service)).toEqual([]);
  await expect.poll(() => ends(service)).toMatchObject([{ outcome, error: expect.stringContaining(error) }]);
  await expect(buffer(response)).rejects.toThrow('aborted');
});

const revocable = sharedService(sqlite, { mirrorLimits: { checkTokenEveryMs: 100 } });

test('a clone ends if its token is revoked, and the clone of another token continues', async () => {
  const mirror = await largeMirror(revocable);
  const { id, secret } = await revocable.token({ scopes: ['contents:read'] });
  const revoked = await stalledClone(revocable, mirror, secret);
  const { response } = await stalledClone(revocable, mirror, revocable.secret);
  await revoke(revocable.storage, id);
  // Otherwise the rest could be read before the next check of the token.
  await expect.poll(() => errors(revocable)).toEqual(['The token of the client was revoked.']);
  await expect(buffer(revoked.response)).rejects.toThrow('aborted');
  expect((await buffer(response)).length).toBeGreaterThan(16 * megabyte);
});

describe('the limit of parallel clones', () => {
  const service = sharedService(sqlite, { mirrorLimits: { parallelClones: 4, maxWaitMs: 500 } });

  test('is shared among owners, not tokens, and a clone that waits too long gets the reason', async () => {
    const mirror = await largeMirror(service);
    const [one, second] = [await service.token({ owner: 'one' }), await service.token({ owner: 'one' })];
    const other = await service.token({ owner: 'other' });
    const urlOf = ({ secret }: { readonly secret: string }): string => mirror.url.replace(service.secret, secret);
    const held = await Promise.all([one, one, second].map(({ secret }) => stalledClone(service, mirror, secret)));
    const client = await gitClient();
    expect(await client.refused('clone', '--bare', urlOf(one), 'refused')).toContain(
      'fatal: remote error: The maximum number of clones is running. Try again in a minute.',
    );
    await client.git('clone', '--quiet', '--bare', urlOf(other), 'of-other');
    expect(await client.git('ls-remote', urlOf(one))).toContain('refs/heads/main');
    const waiting = client.git('clone', '--quiet', '--bare', urlOf(one), 'waits');
    held[0]?.request.destroy();
    await waiting;
    expect(outcomes(service).filter((outcome) => outcome !== 'aborted')).toEqual(['busy', 'served', 'served']);
  });

  test('leaves out clients that have not sent their request yet', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    mirror.remote.commit({ branch: 'main', files: { a: '1' } });
    await mirror.sync();
    for (const owner of ['slow', 'slow', 'slow', 'slower']) {
      const { secret } = await service.token({ owner });
      const headers = { authorization: `Bearer ${secret}`, 'content-type': uploadPackType, 'content-length': 1_000 };
      const asked = request(`${service.baseUrl}${mirror.path}/git-upload-pack`, {
        method: 'POST',
        agent: false,
        headers,
      });
      onTestFinished(() => void asked.destroy());
      asked.on('error', () => undefined).write('0');
    }
    // Until the requests have been received.
    await sleep(500);
    const client = await gitClient();
    await client.git('clone', '--quiet', '--bare', mirror.url, 'not-kept-out');
  });
});
