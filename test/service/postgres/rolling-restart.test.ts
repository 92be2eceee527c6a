import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresServer } from '../../support/databases.ts';
import { createRepository, manyCommits } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { freePort } from '../../support/listen.ts';
import {
  caddyWithSecond,
  nginxWithSecond,
  type Product,
  programOf,
  startReverseProxy,
} from '../../support/reverse-proxy.ts';
import { ask } from '../../support/running-service.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { runCommand, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { gitClient } from '../mirror/mirror-of.ts';

const { cert, key } = selfSigned('localhost');
const enough = 1_000;
const largeBytes = 12_000_000;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Two instances on one database, each with its own data folder, behind a proxy with the shipped configuration. */
async function startInstances(productWithSecond: (port: number) => Product) {
  const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
  onTestFinished(remove);
  const folder = temporaryFolder();
  const ports = [await freePort(), await freePort()] as const;
  const proxy = await startReverseProxy(productWithSecond(ports[1]), { servicePort: ports[0], cert, key });
  onTestFinished(proxy.stop);
  const start = (port: number): Promise<ServiceProcess> =>
    startServiceProcess({
      folder: join(folder, `data-${port}`),
      port,
      // Empty: the default of `serve`.
      environment: { DATABASE_URL: url, WORKSPACE_SERVICE_DRAIN_DELAY: '' },
      args: ['--public-url', proxy.origin, '--trusted-proxy', '127.0.0.1', '--log-level', 'error'],
    });
  const instances = [await start(ports[0]), await start(ports[1])];
  onTestFinished(async () => void (await Promise.all(instances.map(({ kill }) => kill()))));
  return { proxy, folder, url, ports, instances, start };
}

/** A repository with a history and LFS objects, synced into a mirror. */
async function syncRepository({ baseUrl, token, folder }: ServiceProcess, DATABASE_URL: string) {
  const store = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const remote = createRepository(temporaryFolder());
  const contents = [randomBytes(largeBytes), ...Array.from({ length: 20 }, () => randomBytes(200_000))];
  const objects = contents.map((content) => store.put(content));
  const files = Object.fromEntries(objects.map((object, index) => [`Content/${index}.uasset`, pointerTo(object)]));
  remote.commit(...manyCommits(200), {
    branch: 'main',
    files: { '.gitattributes': '*.uasset filter=lfs diff=lfs merge=lfs -text\n', ...files },
  });
  const args = ['--remote', remote.path, '--lfs-url', store.url];
  const added = await runCommand(['workspace', 'add', 'game', ...args], { folder, environment: { DATABASE_URL } });
  expect(added).toMatchObject({ code: 0 });
  const { body } = await ask(baseUrl, 'POST', '/workspaces/game/sync', { token, json: { branch: 'main' } });
  const status = async () => (await ask(baseUrl, 'GET', `/workspaces/game/syncs/${body.sync_id}`, { token })).body;
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ status: 'succeeded', missing_objects: 0 });
  const [large] = objects;
  if (large === undefined) throw new Error('There is no large object.');
  return { head: remote.head('main'), large };
}

/** Starts the real git, and git-lfs with it, on a machine that trusts the proxy. */
async function startCloning(origin: string, token: string) {
  const client = await gitClient();
  const certificate = join(client.folder, 'certificate.pem');
  await client.settings(`[http]\n\tsslCAInfo = ${certificate}\n[credential]\n\thelper = store\n[lfs]
\turl = ${origin}/v1/workspaces/game/lfs\n[filter "lfs"]\n\tprocess = git-lfs filter-process\n\trequired = true\n`);
  await writeFile(certificate, cert);
  await writeFile(
    join(client.folder, 'home/.git-credentials'),
    `${origin.replace('https://', `https://x:${token}@`)}\n`,
  );
  let clones = 0;
  return async () => {
    clones += 1;
    const clone = `clone-${clones}`;
    await client.git('clone', '--quiet', `${origin}/v1/workspaces/game/git`, clone);
    return {
      head: (await client.git('-C', clone, 'rev-parse', 'HEAD')).trim(),
      // Empty if git-lfs has fetched every object.
      changed: await client.git('-C', clone, 'status', '--porcelain'),
      lfs: await client.git('-C', clone, 'lfs', 'ls-files'),
    };
  };
}

test.skipIf(postgresServer === undefined).for([
  ['nginx', nginxWithSecond],
  ['Caddy', caddyWithSecond],
] as const)(
  'no request, clone or download fails in a rolling restart behind %s (needs TEST_DATABASE_URL)',
  { timeout: 240_000 },
  async ([name, productWithSecond], context) => {
    if (programOf(productWithSecond(0)) === undefined) leaveOut(context, `There is no ${name} on this machine.`);
    const { proxy, url, ports, instances, start } = await startInstances(productWithSecond);
    const [first] = instances;
    if (first === undefined) throw new Error('No instance was started.');
    const { token } = first;
    const { head, large } = await syncRepository(first, url);

    const agent = new Agent({ keepAlive: true, ca: cert, servername: 'localhost' });
    onTestFinished(() => agent.destroy());
    const failures: string[] = [];
    let requests = 0;
    let isOver = false;

    async function begin(method: string, path: string, json?: object, headers: Record<string, string> = {}) {
      const body = json && JSON.stringify(json);
      const sent = request(`${proxy.origin}/v1${path}`, {
        method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
          ...headers,
        },
      });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return response;
    }

    /** Counts the request, and records an unexpected response. */
    async function send(expected: number, ...sent: Parameters<typeof begin>): Promise<Answer> {
      const [method, path] = sent;
      requests += 1;
      try {
        const response = await begin(...sent);
        const body = await text(response);
        const status = response.statusCode ?? 0;
        if (status !== expected) failures.push(`${method} ${path}: ${status} ${body}`);
        return { status, headers: response.headers, body };
      } catch (error) {
        failures.push(`${method} ${path}: ${error}`);
        return { status: 0, headers: {}, body: '' };
      }
    }

    async function takeLocks(): Promise<void> {
      while (!isOver) {
        const path = `Content/${randomUUID()}.uasset`;
        const { headers } = await send(201, 'POST', '/workspaces/game/locks', { path, type: 'exclusive', ttl: '1h' });
        await send(200, 'GET', `/workspaces/game/locks?path=${encodeURIComponent(path)}`);
        await send(204, 'DELETE', `/workspaces/game/locks/${encodeURIComponent(path)}`, undefined, {
          'if-match': String(headers.etag),
        });
      }
    }

    const clone = await startCloning(proxy.origin, token);
    const clones: Awaited<ReturnType<typeof clone>>[] = [];
    async function cloneOverAndOver(): Promise<void> {
      while (!isOver) clones.push(await clone());
    }

    /** Reads a part, and the rest when told to, like a client in a slow network. */
    async function downloadSlowly(goOn: Promise<void>): Promise<number> {
      const { status, body } = await send(200, 'POST', '/workspaces/game/lfs/objects/batch', {
        operation: 'download',
        objects: [large],
      });
      if (status !== 200) throw new Error(`${failures.join('\n')}\n${await proxy.errors()}`);
      const { href } = JSON.parse(body).objects[0].actions.download;
      const response = await begin('GET', new URL(href).pathname.replace('/v1', '') + new URL(href).search);
      response.pause();
      await goOn;
      let received = 0;
      for await (const chunk of response) received += chunk.length;
      return received;
    }

    // Caddy started before the instances, and has found them only when its next check succeeded.
    const listed = async () => (await begin('GET', '/workspaces')).resume().statusCode;
    await expect.poll(listed).toBe(200);
    const work = Promise.all([...Array.from({ length: 8 }, takeLocks), cloneOverAndOver()]);
    for (const [index, port] of ports.entries()) {
      const before = requests;
      const stopped = Promise.withResolvers<void>();
      // nginx sends some of them to each instance.
      const downloads = Promise.all(Array.from({ length: 4 }, () => downloadSlowly(stopped.promise)));
      await sleep(500);
      const ending = instances[index]?.stop();
      const refusal = async () =>
        ask(`http://127.0.0.1:${port}`, 'GET', '/readyz').then(({ status }) => status, String);
      await expect.poll(refusal).toBe(503);
      await expect.poll(refusal, { interval: 100 }).toContain('ECONNREFUSED');
      stopped.resolve();
      expect(await downloads).toEqual(Array.from({ length: 4 }, () => largeBytes));
      expect(await ending).toBe(0);
      instances[index] = await start(port);
      expect((await ask(`http://127.0.0.1:${port}`, 'GET', '/readyz')).status).toBe(200);
      // As docs/self-hosting.md says: only the proxy knows when it has checked the instance.
      await sleep(5_000);
      await expect.poll(() => requests - before, { timeout: 60_000 }).toBeGreaterThan(enough);
    }
    isOver = true;
    await work;
    expect(failures, failures.length > 0 ? await proxy.errors() : '').toEqual([]);
    expect(clones.length).toBeGreaterThan(2);
    expect(new Set(clones.map(({ head }) => head))).toEqual(new Set([head]));
    for (const { changed, lfs } of clones) {
      expect(changed).toBe('');
      expect(lfs.trim().split('\n')).toEqual(Array.from({ length: 21 }, () => expect.stringContaining(' * ')));
    }
  },
);
