import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createTargetCheck } from '../../../../src/service/outbound/target-address.ts';
import { cidr } from '../../../../src/service/platform/ip-address.ts';
import { startGitHttpsServer } from '../../../support/git-https-server.ts';
import { gitIn, operatorEnvironment, remoteAt } from '../../../support/git-service.ts';
import { fakeSsh } from '../../../support/git-ssh.ts';
import { type LfsAction, nameOf, type StoredName } from '../../../support/lfs-store.ts';
import { nothing } from '../../../support/other-servers/responses.ts';
import { objectsSetUp } from './set-up.ts';

const content = 'the hero';
const hero = nameOf(content);

async function heroSetUp() {
  const setUp = await objectsSetUp();
  setUp.store.put(content);
  setUp.point({ 'Content/Hero.uasset': hero });
  return setUp;
}

/** Checks targets with these allowed networks, and resolves every name to these IP addresses. */
const targets = (networks: readonly string[], addresses: readonly string[] = []) =>
  createTargetCheck({ allowedNetworks: networks.map(cidr), resolve: async () => addresses });

const loopback = targets(['127.0.0.0/8'], ['127.0.0.1']);

describe('the URL of an object', () => {
  test.each<readonly [string, string, readonly string[]]>([
    ['an IP address of this machine', 'http://127.0.0.1:1/', []],
    ['another spelling of that address', 'http://[::ffff:7f00:1]:1/', []],
    ['a private IP address', 'https://10.1.2.3/', []],
    ['the metadata of a cloud provider', 'http://169.254.169.254/latest', []],
    ['a name of this machine', 'https://objects.example.com/', ['127.0.0.1']],
    ['a name with one private IP address', 'https://objects.example.com/', ['192.0.66.1', '10.1.2.3']],
    ['a public IP address without encryption', 'http://objects.example.com/', ['93.184.215.14']],
  ])('is rejected if it leads to %s', async (_name, href, addresses) => {
    const { fetch, store } = await heroSetUp();
    store.behaviour.action = () => ({ href });
    await expect(fetch({ targets: targets([], addresses) })).rejects.toThrow('The LFS store returned a URL at');

    store.behaviour.action = undefined;
    store.behaviour.download = () => nothing(302, { location: href });
    await expect(fetch({ targets: targets([], addresses) })).rejects.toThrow('--allow-hook-network');
  });

  test('is requested with the headers of the store, and its redirect without them', async () => {
    const { fetch, store } = await heroSetUp();
    const other = await heroSetUp();
    store.behaviour.action = ({ href }) => ({
      href,
      header: { 'X-Key': 'of the object', Host: 'other', Range: 'bytes=1-' },
    });
    store.behaviour.download = () =>
      nothing(307, { location: `http://objects.example.com:${other.store.port}/objects/${hero.oid}` });
    expect(await fetch({ targets: loopback })).toMatchObject({ received: { objects: 1 } });
    expect(store.downloads[0]?.headers).toMatchObject({ 'x-key': 'of the object', host: `127.0.0.1:${store.port}` });
    expect(store.downloads[0]?.headers.range).toBeUndefined();
    expect(other.store.downloads[0]?.headers).not.toHaveProperty('x-key');
  });

  test.each(['ftp://127.0.0.1/a', '/objects', 'https://user:password@example.com/a', 'nonsense'])(
    'is rejected as invalid: %s',
    async (href) => {
      const { fetch, store } = await heroSetUp();
      store.behaviour.action = () => ({ href });
      await expect(fetch()).rejects.toThrow('the format of the Git LFS batch API');
    },
  );
});

describe('the store of a remote over https', () => {
  /** A remote that is also a store, and returns these actions for objects. */
  async function httpsSetUp(actionOf: (own: string, object: StoredName) => LfsAction) {
    const setUp = await heroSetUp();
    const server = await startGitHttpsServer({
      folder: setUp.folder,
      async answer(request, response) {
        if (request.url?.endsWith('/info/lfs/objects/batch')) {
          const { objects } = JSON.parse(await text(request)) as { objects: StoredName[] };
          const answered = objects.map((object) => ({
            ...object,
            actions: { download: actionOf(server.host, object) },
          }));
          response.end(JSON.stringify({ objects: answered }));
          return true;
        }
        if (!request.url?.startsWith('/objects/')) return false;
        response.end(content);
        return true;
      },
    });
    const remote = remoteAt(server.address('remote.git', 'git:the-password'));
    const environment = operatorEnvironment(setUp.folder, { GIT_SSL_CAINFO: server.certificate });
    const authorizations = () => server.requests.map(({ authorization }) => authorization);
    return { ...setUp, remote, environment, authorizations };
  }
  const basic = `Basic ${btoa('git:the-password')}`;

  test('has the URL of the remote, and receives the credentials of the workspace', async () => {
    const { fetch, remote, environment, authorizations } = await httpsSetUp((own, { oid }) => ({
      href: `https://${own}/objects/${oid}`,
    }));
    expect(await fetch({ lfsUrl: null, remote, environment })).toMatchObject({ received: { objects: 1 } });
    expect(authorizations()).toEqual([basic, basic]);
  });

  test('keeps these credentials from other hosts, and from a store that the operator names', async () => {
    const other = await heroSetUp();
    const { fetch, remote, environment, authorizations } = await httpsSetUp((_own, { oid }) => ({
      href: `http://objects.example.com:${other.store.port}/objects/${oid}`,
    }));
    expect(await fetch({ lfsUrl: null, remote, environment, targets: loopback })).toMatchObject({
      received: { objects: 1 },
    });
    expect(authorizations()).toEqual([basic]);
    expect(other.store.downloads[0]?.headers.authorization).toBeUndefined();

    await expect(other.fetch({ remote })).resolves.toMatchObject({ received: { objects: 1 } });
    expect(other.store.authorizations).toEqual([undefined]);
  });

  test('is not trusted if its certificate is unknown', async () => {
    const { fetch, remote } = await httpsSetUp(() => ({ href: 'https://example.com' }));
    await expect(fetch({ lfsUrl: null, remote })).rejects.toThrow('cannot be reached: the connection failed (');
  });
});

describe('the store of a remote over ssh', () => {
  async function sshSetUp(answer: (port: number) => string) {
    const setUp = await heroSetUp();
    const { folder, data, store } = setUp;
    const script = join(folder, 'git-lfs-authenticate');
    await writeFile(script, `#!/bin/sh\n[ "$2" = download ] || exit 1\n${answer(store.port)}\n`);
    await chmod(script, 0o755);
    const environment = { GIT_SSH_COMMAND: await fakeSsh(folder, 'ssh'), PATH: `${folder}:${process.env['PATH']}` };
    const remote = remoteAt('ssh://git@127.0.0.1:2222/studio/game.git');
    return { ...setUp, git: gitIn(data, environment), remote };
  }
  const saying = (port: number, header = 'store-user:store-password') =>
    `echo '{"href":"http://127.0.0.1:${port}/lfs","header":{"Authorization":"Basic ${btoa(header)}"},"expires_in":900}'`;

  test('is the one that git-lfs-authenticate returns, with its header', async () => {
    const { fetch, git, remote, store } = await sshSetUp((port) => saying(port));
    store.behaviour.public = false;
    expect(await fetch({ lfsUrl: null, git, remote })).toMatchObject({ received: { objects: 1 } });
  });

  test('gets a new header when the old one has expired', async () => {
    const { fetch, git, remote, store } = await sshSetUp(
      (port) => `if [ -e "$0.asked" ]; then ${saying(port)}; else touch "$0.asked"; ${saying(port, 'ended')}; fi`,
    );
    store.behaviour.public = false;
    expect(await fetch({ lfsUrl: null, git, remote })).toMatchObject({ received: { objects: 1 } });
    expect(store.authorizations).toHaveLength(2);
  });

  test('fails the sync if it rejects each new header', async () => {
    const { fetch, git, remote, store } = await sshSetUp((port) =>
      saying(port, 'nobody').replace('Basic ', () => "Basic '$$'"),
    );
    store.behaviour.public = false;
    await expect(fetch({ lfsUrl: null, git, remote })).rejects.toThrow('rejects the credentials of the remote');
    expect(new Set(store.authorizations).size).toBe(2);
  });

  test.each([
    ['refuses', 'echo "You may not." >&2; exit 1', 'You may not.'],
    ['sends invalid output', 'echo "Welcome!"', 'its response to git-lfs-authenticate is not valid'],
    [
      'returns an IP address in the network of the operator',
      `echo '{"href":"https://10.1.2.3/lfs"}'`,
      'which resolves to a private address',
    ],
    ['does not have the command', 'exec no-such-command', 'git-lfs-authenticate'],
  ])('fails the sync if the other side %s', async (_name, answer, reason) => {
    const { fetch, git, remote } = await sshSetUp(() => answer);
    await expect(fetch({ lfsUrl: null, git, remote })).rejects.toThrow(reason);
  });
});
