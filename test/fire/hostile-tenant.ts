import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listenHere } from '../support/listen.ts';
import { randomOf } from '../support/seed.ts';
import { garbage } from './garbage.ts';
import { sendGarbage } from './send-garbage.ts';

/** The attacks of a hostile tenant on the service. They run in processes of their own: see hostile-guests.test.ts. */

export const attackNames = [
  'forms',
  'marks',
  'garbage',
  'receivers',
  'silent remote',
  'sign-ins',
  'live pages',
  'pipelined requests',
  'locks',
  'retried keys',
] as const;
export type AttackName = (typeof attackNames)[number];

export interface AttackOrder {
  readonly origin: string;
  readonly workspace: string;
  /** A token for this workspace only. */
  readonly token: string;
  readonly attacks: readonly AttackName[];
  readonly seed: number;
  readonly receivers: number;
  /** The share of its connections that it uses: 1 for all of them. */
  readonly strength: number;
}

/** The number of responses by attack and status. */
export type AttackReport = Readonly<Record<string, Readonly<Record<string, number>>>>;

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly message: IncomingMessage;
}

interface Target extends AttackOrder {
  readonly port: number;
  note(status: number | string): void;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
const jsonType = { 'content-type': 'application/json' };
/** To sort them, each mark of the second half must pass all marks of the first. */
const marks = '\u0345'.repeat(40_000) + '\u0327'.repeat(40_000);

const connections = new Agent({ keepAlive: true, maxSockets: 512 });

/** Where a client can have several IP addresses, its failed sign-ins do not count against those of the others. */
const ownAddress = process.platform === 'linux' ? { localAddress: '127.0.0.2' } : {};

async function send(target: Target, method: string, path: string, headers: Headers, body = ''): Promise<Answer> {
  const asked = request(target.origin + path, {
    method,
    agent: connections,
    headers: { ...headers, ...(body !== '' && { 'content-length': Buffer.byteLength(body) }) },
  });
  asked.end(body);
  // Node.js rejects with the error of the request.
  const [message] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: message.statusCode ?? 0, message };
}

async function ask(target: Target, method: string, path: string, headers: Headers, body?: string): Promise<number> {
  const { status, message } = await send(target, method, path, headers, body);
  message.on('error', () => undefined).resume();
  if (!message.closed) await once(message, 'close');
  target.note(status);
  return status;
}

const authorized = ({ token }: Target): Headers => ({ authorization: `Bearer ${token}` });
const postJson = (target: Target, path: string, json: unknown, headers: Headers = {}) =>
  ask(target, 'POST', path, { ...authorized(target), ...jsonType, ...headers }, JSON.stringify(json));
const locksOf = ({ workspace }: Target): string => `/v1/workspaces/${workspace}/locks`;

const lock = (target: Target, path: string, ttl = '1h', headers: Headers = {}) =>
  postJson(target, locksOf(target), { path, type: 'exclusive', ttl }, headers);

/** Repeats the work several times in parallel, each as soon as it ends. Only the end of the process stops it. */
function forEver(target: Target, atOnce: number, work: (turn: number) => Promise<unknown>): void {
  let turn = 0;
  async function go(): Promise<void> {
    for (;;) {
      turn += 1;
      await work(turn).catch((error: unknown) => {
        // Such as a connection that the service was allowed to close.
        target.note(error instanceof Error && 'code' in error ? String(error.code) : String(error));
        return pause(10);
      });
    }
  }
  for (let index = 0; index < atOnce * target.strength; index += 1) void go();
}

/** Signs in, and returns the session cookie if it gets one. */
async function signIn(target: Target): Promise<string | undefined> {
  const form = new URLSearchParams({ token: target.token, to: '/' }).toString();
  const asked = request(`${target.origin}/sign-in`, {
    method: 'POST',
    agent: false,
    ...ownAddress,
    headers: { ...formType, origin: target.origin, 'content-length': form.length },
  });
  asked.end(form);
  const [message] = (await once(asked, 'response')) as [IncomingMessage];
  message.resume();
  target.note(message.statusCode ?? 0);
  return message.statusCode === 303 ? message.headers['set-cookie']?.[0]?.split(';')[0] : undefined;
}

/** A server that passes each incoming connection to `act`. */
async function serverThat(act: (socket: Socket) => void): Promise<number> {
  return (await listenHere(createServer(act))).port;
}

const attacks: Readonly<Record<AttackName, (target: Target) => Promise<void>>> = {
  async forms(target) {
    const cookie = (await signIn(target)) ?? '';
    const bodies = ['a&'.repeat(40_000), 'a&'.repeat(30_000), `note=${'x'.repeat(1_000_000)}`];
    const paths = ['/sign-in', '/sign-out', `/workspaces/${target.workspace}/hooks`];
    forEver(target, 8, (turn) =>
      ask(
        target,
        'POST',
        paths[turn % paths.length] ?? '',
        { ...formType, cookie, origin: target.origin },
        bodies[Math.floor(turn / paths.length) % bodies.length],
      ),
    );
  },

  async marks(target) {
    const cookie = (await signIn(target)) ?? '';
    const paths = [marks, `Content/${marks}`, 'a/'.repeat(80_000), `${'a'.repeat(40_000)}${marks}`];
    forEver(target, 4, async (turn) => {
      await lock(target, paths[turn % paths.length] ?? '');
      const name = new URLSearchParams({ name: marks.slice(35_000, 45_000), scope: 'sync' }).toString();
      await ask(target, 'POST', '/tokens', { ...formType, cookie, origin: target.origin }, name);
      const search = encodeURIComponent(marks.slice(39_000, 41_000));
      await ask(target, 'GET', `/workspaces/${target.workspace}/locks?search=${search}`, { cookie });
    });
  },

  async garbage(target) {
    const { port, workspace, token, seed } = target;
    const pieces = garbage(randomOf(seed), { workspace, token, smuggled: 'smuggled' });
    forEver(target, 8, async () => {
      const { value } = pieces.next();
      if (value !== undefined) target.note((await sendGarbage(port, value)).kind);
    });
    const conditions = ['garbage "a" garbage', 'w/"a"', '"a",'.repeat(3_000), ','.repeat(12_000), '"'.repeat(12_000)];
    const queries = [
      'cursor=%00',
      `cursor=${'A'.repeat(8_000)}`,
      `prefix=${'a%2F'.repeat(2_000)}`,
      'owner=%00',
      'limit=1e9',
    ];
    forEver(target, 4, async (turn) => {
      const condition = conditions[turn % conditions.length] ?? '';
      const headers = { ...authorized(target), 'if-match': condition };
      await ask(target, 'DELETE', `${locksOf(target)}/a`, headers);
      await ask(target, 'GET', `${locksOf(target)}?${queries[turn % queries.length]}`, authorized(target));
    });
  },

  async receivers(target) {
    const hook = (port: number) =>
      postJson(target, `/v1/workspaces/${target.workspace}/hooks`, {
        url: `http://127.0.0.1:${port}/`,
        events: ['lock.acquired', 'lock.released', 'lock.expired', 'sync.failed'],
      });
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n'.repeat(300);
    const sayEarlyForEver = (socket: Socket): void => {
      while (!socket.destroyed && socket.write(early));
      if (!socket.destroyed) socket.once('drain', () => sayEarlyForEver(socket));
    };
    await hook(await serverThat((socket) => socket.once('data', () => sayEarlyForEver(socket)).resume()));
    for (let index = 1; index < target.receivers; index += 1) {
      await hook(
        await serverThat((socket) => {
          target.note('connected');
          socket.resume();
        }),
      );
    }
    forEver(target, 2, async (turn) => {
      const path = `event/${turn}`;
      await lock(target, path, '2s');
      if (turn % 2 === 0)
        await ask(target, 'DELETE', `${locksOf(target)}/${encodeURIComponent(path)}`, authorized(target));
    });
  },

  async 'silent remote'(target) {
    forEver(target, 4, async (turn) => {
      await postJson(target, `/v1/workspaces/${target.workspace}/sync`, { branch: `branch-${turn % 50}` });
      await pause(20);
    });
    forEver(target, 100, async () => {
      await ask(target, 'GET', `/v1/workspaces/${target.workspace}/branches`, authorized(target));
    });
  },

  async 'sign-ins'(target) {
    forEver(target, 8, () => signIn(target));
  },

  async 'live pages'(target) {
    const cookies: string[] = [];
    for (let index = 0; index < 8; index += 1) cookies.push((await signIn(target)) ?? '');
    forEver(target, 32, async (turn) => {
      const asked = request(`${target.origin}/workspaces/${target.workspace}/locks/events`, {
        agent: false,
        headers: { cookie: cookies[turn % cookies.length] ?? '' },
      });
      asked.end();
      const [page] = (await once(asked, 'response')) as [IncomingMessage];
      target.note(page.statusCode ?? 0);
      // A page stays open, and the next one is opened without waiting for its end.
      page.on('error', () => undefined).resume();
      await pause(50);
    });
  },

  async 'pipelined requests'(target) {
    const text = `GET ${locksOf(target)}?limit=1000 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${target.token}\r\n\r\n`;
    forEver(target, 100, async () => {
      const socket = connect({ port: target.port, host: '127.0.0.1' });
      const closed = once(socket, 'close');
      await once(socket, 'connect');
      target.note('connected');
      socket.on('error', () => undefined);
      // Nothing is read, because there is no listener for data.
      for (let sent = 0; sent < 10; sent += 1) {
        socket.write(text.repeat(10));
        await pause(5);
      }
      await Promise.race([closed, pause(10_000)]);
      socket.destroy();
    });
  },

  async locks(target) {
    forEver(target, 64, (turn) =>
      lock(target, `flood/${target.seed}/${turn}`, '1h', { 'idempotency-key': `flood-${target.seed}-${turn}` }),
    );
  },

  async 'retried keys'(target) {
    forEver(target, 64, (turn) => lock(target, 'flood/one', '1h', { 'idempotency-key': `retried-${turn % 50}` }));
  },
};

/** Starts the attacks, and counts the responses until the report is requested. */
function attack(order: AttackOrder): () => AttackReport {
  const report: Record<string, Record<string, number>> = {};
  for (const name of order.attacks) {
    const counts: Record<string, number> = {};
    report[name] = counts;
    const note = (status: number | string): void => {
      counts[status] = (counts[status] ?? 0) + 1;
    };
    void attacks[name]({ ...order, port: Number(new URL(order.origin).port), note }).catch((error: unknown) =>
      note(`could not begin: ${String(error)}`),
    );
  }
  return () => report;
}

if (import.meta.main) {
  // The test sends one order, and then any message to request the report.
  process.once('message', (order: AttackOrder) => {
    const report = attack(order);
    process.on('message', () => process.send?.(report()));
  });
  process.once('disconnect', () => process.exit());
}
