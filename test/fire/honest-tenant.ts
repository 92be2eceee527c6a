import { randomUUID } from 'node:crypto';
import { ask, type Reply } from '../support/running-service.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

export interface HonestTenantOptions {
  /** The base URL, ending in `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  readonly workspace: string;
  readonly branches: readonly string[];
}

/** The interval at which a lock is acquired, renewed and released: twenty a second. */
const everyMs = 50;
const heldThroughout = 20;

/** Steadily uses a workspace for its purpose, and checks every response. */
export async function startHonestTenant(options: HonestTenantOptions) {
  const { baseUrl, token, workspace, branches } = options;
  const origin = baseUrl.replace(/\/v1$/, '');
  /** Milliseconds that each acquire, renew and release request took. */
  const took: number[] = [];
  /** Milliseconds from each event to its receipt. */
  const delays: number[] = [];
  /** Milliseconds that each sync took from its request to its end. */
  const syncs: number[] = [];
  const listed: number[] = [];
  const probes: number[] = [];
  /** Results that differ from the expected ones. */
  const wrong: string[] = [];
  const awaited = new Map<string, string>();
  const url = `/workspaces/${workspace}`;
  const locks = `${url}/locks`;
  let stopped = false;

  async function expectStatus(
    status: number,
    method: string,
    path: string,
    given: { json?: unknown; headers?: Record<string, string>; into?: number[] } = {},
  ): Promise<Reply> {
    const began = performance.now();
    const { into, ...rest } = given;
    const reply = await ask(baseUrl, method, path, { token, ...rest });
    into?.push(performance.now() - began);
    if (reply.status !== status) wrong.push(`${method} ${path}: ${reply.status} in place of ${status}: ${reply.text}`);
    return reply;
  }

  /** Received events. An event may arrive before the response to its cause, and more than once. */
  const arrived = new Set<string>();
  const expectEvent = (event: string): void => {
    if (!arrived.has(event)) awaited.set(event, event);
  };
  const receiver = await startWebhookReceiver();
  void (async () => {
    for (;;) {
      const { body } = await receiver.nextDelivery();
      const now = Date.now();
      const { type, timestamp, data } = JSON.parse(body);
      const event = `${type} ${data.lock.id}`;
      // A repeated delivery does not count: the first one was in time.
      if (!arrived.has(event)) delays.push(now - Date.parse(timestamp));
      arrived.add(event);
      awaited.delete(event);
    }
  })();

  async function take(path: string, into?: number[]): Promise<string> {
    const json = { path, type: 'exclusive', ttl: '1h' };
    const headers = { 'idempotency-key': randomUUID() };
    const { body } = await expectStatus(201, 'POST', locks, { json, headers, ...(into && { into }) });
    expectEvent(`lock.acquired ${body.id}`);
    return body.id;
  }

  await expectStatus(201, 'POST', `${url}/hooks`, {
    json: { url: receiver.url(), events: ['lock.acquired', 'lock.released'] },
  });
  const kept = new Map<string, string>();
  for (let index = 0; index < heldThroughout; index += 1) kept.set(`kept/${index}`, await take(`kept/${index}`));

  async function lockRenewRelease(turn: number): Promise<void> {
    const path = `honest/${turn}`;
    const id = await take(path, took);
    const headers = { 'if-match': `"${id}"` };
    const json = { path, type: 'exclusive', ttl: '2h' };
    const renewed = await expectStatus(200, 'POST', locks, { json, headers, into: took });
    if (renewed.body?.id !== id) wrong.push(`${path} was ${id}, and is renewed as ${renewed.text}`);
    await expectStatus(204, 'DELETE', `${locks}/${encodeURIComponent(path)}`, { headers, into: took });
    expectEvent(`lock.released ${id}`);
  }

  async function sync(turn: number): Promise<void> {
    const began = performance.now();
    const branch = branches[turn % branches.length];
    const { headers } = await expectStatus(202, 'POST', `${url}/sync`, { json: { branch } });
    const location = (headers.get('location') ?? '').replace(/^\/v1/, '');
    for (;;) {
      const { body } = await expectStatus(200, 'GET', location);
      if (body?.status !== 'queued' && body?.status !== 'running') {
        if (body?.status !== 'succeeded') wrong.push(`The sync of ${branch} ended as ${JSON.stringify(body)}.`);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    syncs.push(performance.now() - began);
  }

  async function look(): Promise<void> {
    const { body } = await expectStatus(200, 'GET', `${locks}?prefix=kept%2F&limit=100`, { into: listed });
    const ids = (body?.locks ?? []).map(({ id }: { id: string }) => id).sort();
    if (JSON.stringify(ids) !== JSON.stringify([...kept.values()].sort()))
      wrong.push(`Of those kept, there are ${ids}.`);
    await expectStatus(200, 'GET', `${url}/branches`);
  }

  async function probe(): Promise<void> {
    const began = performance.now();
    const { status } = await ask(origin, 'GET', '/healthz');
    probes.push(performance.now() - began);
    if (status !== 200) wrong.push(`/healthz: ${status}`);
  }

  const running = new Set<Promise<void>>();
  const tell = (error: unknown): void => void wrong.push(String(error));
  /** Works at a steady pace: waiting for a response does not delay the next request. */
  function steadily(ms: number, work: (turn: number) => Promise<void>): NodeJS.Timeout {
    let turn = 0;
    return setInterval(() => {
      turn += 1;
      const one = work(turn)
        .catch(tell)
        .finally(() => running.delete(one));
      running.add(one);
    }, ms);
  }
  async function inTurn(pauseMs: number, work: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !stopped; turn += 1) {
      await work(turn).catch(tell);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  const timers = [steadily(everyMs, lockRenewRelease), steadily(200, probe)];
  const loops = [inTurn(2_000, sync), inTurn(1_000, look)];

  return {
    took,
    delays,
    syncs,
    listed,
    probes,
    wrong,
    /** Ends the running work, and returns the events that have not arrived. */
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all([...running, ...loops]);
      const { body } = await expectStatus(200, 'GET', `${locks}?limit=1000`);
      const paths: readonly string[] = (body?.locks ?? []).map(({ path }: { path: string }) => path);
      const own = paths.filter((path) => /^(kept|honest)\//.test(path)).toSorted();
      if (own.join() !== [...kept.keys()].sort().join()) wrong.push(`In the end it has ${own.join()}.`);
      return () => [...awaited.keys()];
    },
  };
}
