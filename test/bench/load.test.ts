import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type LoadPlan, runLoad } from '../../bench/service/load.ts';

interface Asked {
  readonly url: string | undefined;
  readonly body: unknown;
  readonly key: string | undefined;
  readonly socket: IncomingMessage['socket'];
}

/** A service that answers after a moment. */
async function startServer(status: number) {
  const asked: Asked[] = [];
  let most = 0;
  let open = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    most = Math.max(most, open);
    asked.push({
      url: request.url,
      body: await json(request),
      key: String(request.headers['idempotency-key']),
      socket: request.socket,
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    open -= 1;
    response.writeHead(status, { location: `/v1/syncs/${asked.length % 2}` }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const target = { baseUrl: `http://127.0.0.1:${port}/v1`, workspace: 'game', token: 'wsa_bench' };
  return { asked, most: () => most, target };
}

const plan: Omit<LoadPlan, 'targets'> = {
  ask: 'for locks',
  name: 'test',
  clients: 4,
  warmUpMs: 0,
  end: { kind: 'requests', number: 40 },
};

test('so many clients ask for so many different locks, each over a connection of its own that it keeps', async () => {
  const { asked, most, target } = await startServer(201);
  const { latenciesMs, ms } = await runLoad({ ...plan, targets: [target] });
  expect(latenciesMs).toHaveLength(40);
  expect(Math.min(...latenciesMs)).toBeGreaterThan(4);
  expect(ms).toBeGreaterThanOrEqual(Math.max(...latenciesMs));
  expect(new Set(asked.map(({ body }) => JSON.stringify(body))).size).toBe(40);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(40);
  expect(new Set(asked.map(({ socket }) => socket)).size).toBe(4);
  expect(most()).toBe(4);
});

test('clients are spread evenly over instances and workspaces', async () => {
  const servers = [await startServer(201), await startServer(201)];
  const targets = servers.flatMap(({ target }) => ['one', 'two'].map((workspace) => ({ ...target, workspace })));
  await runLoad({ ...plan, targets, clients: 8 });
  for (const { asked } of servers) {
    expect(new Set(asked.map(({ socket }) => socket)).size).toBe(4);
    const byWorkspace = Map.groupBy(asked, ({ url }) => url);
    expect([...byWorkspace.keys()].toSorted()).toEqual(['/v1/workspaces/one/locks', '/v1/workspaces/two/locks']);
  }
});

test('only what is answered in the time that counts is counted, and the time is what was planned', async () => {
  const { asked, target } = await startServer(201);
  const { latenciesMs, ms } = await runLoad({
    ...plan,
    targets: [target],
    warmUpMs: 60,
    end: { kind: 'after', ms: 60 },
  });
  expect(ms).toBe(60);
  expect(latenciesMs.length).toBeGreaterThan(0);
  expect(latenciesMs.length).toBeLessThan(asked.length);
});

test('it names the different resources that it was given', async () => {
  const { target } = await startServer(202);
  const { resources } = await runLoad({
    ...plan,
    targets: [target],
    ask: 'for syncs',
    clients: 1,
  });
  expect(resources.toSorted()).toEqual(['/v1/syncs/0', '/v1/syncs/1']);
});

test('an answer that is none of those it is to measure ends it', async () => {
  const { target } = await startServer(429);
  await expect(runLoad({ ...plan, targets: [target] })).rejects.toThrow(/answered with 429/);
});
