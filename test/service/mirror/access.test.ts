import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../../src/service/contract/scopes.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { sqlite } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import type { Ask, Reply } from '../../support/running-service.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { sufficientFor } from '../http/operations.ts';
import { sharedService, words } from '../http/shared-service.ts';
import { fetchOf, gitClient, type Mirrored, mirrored, uploadPackType } from './mirror-of.ts';

const service = sharedService();
const folder = folderOfTests();
let mirror: Mirrored;

beforeAll(async () => {
  mirror = await mirrored(service, folder, service.secret);
  mirror.remote.commit({ branch: 'main', files: { a: '1' } });
  await mirror.sync();
});

/** What git sends before a long request, to find out whether it must authenticate. */
const probe = '0000';
const asGit = { 'content-type': uploadPackType };

interface Address {
  readonly method: string;
  readonly below: string;
  readonly given: Ask;
  /** The response to a token that may read the mirror. */
  readonly letIn: number;
}

const get = (below: string, letIn: number): Address => ({ method: 'GET', below, given: {}, letIn });
const post = (below: string, letIn: number): Address => ({
  method: 'POST',
  below,
  given: { raw: probe, headers: asGit },
  letIn,
});

const addresses: readonly Address[] = [
  get('/info/refs?service=git-upload-pack', 200),
  post('/git-upload-pack', 200),
  get('/info/refs?service=git-receive-pack', 403),
  post('/git-receive-pack', 403),
  get('/config', 403),
];

const basic = 'Basic realm="workspace-service"';

function expectText({ status, headers, text }: Reply, expected: number): string {
  expect([status, headers.get('content-type')], text).toEqual([expected, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^\S[^\n]*[^\s]\n$/);
  return text;
}

describe.each(addresses)('$method $below', ({ method, below, given, letIn }) => {
  const ask = (more: Ask, path = mirror.path): Promise<Reply> =>
    service.ask(method, path + below, { ...given, ...more, headers: { ...given.headers, ...more.headers } });

  test('responds 401 and asks for a password if the token is missing or unknown', async () => {
    const asBasic = (text: string) => ({ headers: { authorization: `Basic ${btoa(text)}` } });
    for (const more of [{}, { token: newTokenSecret() }, asBasic(`x:${newTokenSecret()}`), asBasic('x')]) {
      const response = await ask(more);
      expectText(response, 401);
      expect(response.headers.get('www-authenticate')).toBe(basic);
    }
    expect((await ask(asBasic(`any name:${service.secret}`))).status).toBe(letIn);
  });

  test.each(scopes)('accepts or rejects the scope %s as the table defines', async (scope) => {
    const { secret: token } = await service.token({ scopes: [scope] });
    const response = await ask({ token });
    if (sufficientFor['contents:read'].includes(scope)) expect(response.status).toBe(letIn);
    else expect(expectText(response, 403)).toContain('This needs the scope contents:read, and the token has only');
  });

  test('responds 404 equally for hidden, unknown and invalid workspaces', async () => {
    const { secret: token } = await service.token({ workspaces: [service.home] });
    const message = async (id: string): Promise<string> =>
      expectText(await ask({ token }, `/v1/workspaces/${id}/git`), 404).replace(decodeURIComponent(id), 'ID');
    const hidden = await message(mirror.workspace);
    expect(hidden).toBe('There is no workspace "ID" that this token can see.\n');
    expect(await message('not-there')).toBe(hidden);
    for (const id of ['..', '%2e%2e', `x%2F..%2F${mirror.workspace}`, `..%2Fmirrors%2F${mirror.workspace}.git`]) {
      const headers = [`Authorization: Bearer ${service.secret}`, 'Host: a'];
      const response = await requestRaw(service.port, { method, target: `/v1/workspaces/${id}/git${below}`, headers });
      expect(response.status, id).toBe(404);
    }
  });
});

test.each(
  words('/../git /git/../info/refs /git%2Finfo/refs /git/info%2Frefs /git//info/refs /git/./info/refs /git/info/refs/'),
)('the misspelled endpoint %s serves nothing', async (path) => {
  const target = `/v1/workspaces/${mirror.workspace}${path}?service=git-upload-pack`;
  const headers = [`Authorization: Bearer ${service.secret}`, 'Host: a'];
  const { status } = await requestRaw(service.port, { method: 'GET', target, headers });
  expect([403, 404]).toContain(status);
});

test('an invalid git request is rejected before git runs', async () => {
  const send = (raw: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    service.ask('POST', `${mirror.path}/git-upload-pack`, {
      token: service.secret,
      raw,
      headers: { ...asGit, ...headers },
    });
  expectText(await send(probe, { 'content-type': 'application/json' }), 415);
  expectText(await send(probe, { 'content-encoding': 'br' }), 415);
  expectText(await send(probe, { 'content-encoding': 'gzip' }), 400);
  expectText(await send(gzipSync(Buffer.alloc(11 * 1_024 * 1_024, '0')), { 'content-encoding': 'gzip' }), 413);
  const zipped = await send(gzipSync(fetchOf(mirror.remote.head('main'))), { 'content-encoding': 'gzip' });
  expect([zipped.status, zipped.text]).toEqual([200, expect.stringContaining('PACK')]);
  expect(await send(probe)).toMatchObject({ status: 200, text: '' });
  expectText(await service.ask('GET', `${mirror.path}/info/refs?service=a&service=b`, { token: service.secret }), 422);
});

test('HEAD is rejected, because git never sends it', async () => {
  const address = `${mirror.path}/info/refs?service=git-upload-pack`;
  const { status, text } = await service.ask('HEAD', address, { token: service.secret });
  expect([status, text]).toEqual([403, '']);
});

describe('git', () => {
  test('cannot push, and shows the URL of the remote', async () => {
    const client = await gitClient();
    await client.git('clone', '--quiet', mirror.url, 'game');
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    await client.git('-C', 'game', ...author, 'commit', '--quiet', '--allow-empty', '-m', 'x');
    const said = await client.refused('-C', 'game', 'push', 'origin', 'HEAD:main');
    expect(said).toContain(`remote: The mirror of ${mirror.workspace} is read-only.`);
    expect(said).toContain(mirror.remote.path);
  });

  test('cannot create an archive, or read by the dumb protocol', async () => {
    const client = await gitClient();
    await client.refused('archive', `--remote=${mirror.url}`, 'main');
    const said = await client.refused('-c', 'alias.dumb=!GIT_SMART_HTTP=0 git ls-remote', 'dumb', mirror.url);
    expect(said).toContain('remote: This URL supports only git clone, git fetch and git ls-remote');
  });
});

test('the log contains no token', () => {
  const log = service.log();
  expect(log).toContain('mirror fetch ended');
  expect(log).not.toMatch(/wsa_/);
  expect(log).not.toContain(btoa(`x:${service.secret}`));
});

const told = sharedService(sqlite, { publicUrl: (port) => `http://127.0.0.1:${port}` });

test('responses about a sync contain the clone URL if the service has a public URL, and not that of the Host of the request', async () => {
  const there = await mirrored(told, folder, told.secret);
  there.remote.commit({ branch: 'main', files: { a: '1' } });
  const start = await told.ask('POST', `/v1/workspaces/${there.workspace}/sync`, {
    token: told.secret,
    json: { branch: 'main' },
  });
  const status = await told.ask('GET', start.headers.get('location') ?? '', { token: told.secret });
  const clone_url = told.baseUrl + there.path;
  expect([start.body.clone_url, status.body.clone_url]).toEqual([clone_url, clone_url]);
  const { body } = await service.ask('POST', `/v1/workspaces/${mirror.workspace}/sync`, {
    ...{ token: service.secret, json: { branch: 'main' }, headers: { host: 'localhost:8080' } },
  });
  expect(body).not.toHaveProperty('clone_url');
});
