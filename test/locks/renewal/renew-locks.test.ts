import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createCall } from '../../../src/client/call.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { createLists } from '../../../src/client/lists.ts';
import { createMarks } from '../../../src/client/marks.ts';
import { createAcquireLock, createRenewLock } from '../../../src/client/post-lock.ts';
import { createReleaseLock } from '../../../src/client/release-lock.ts';
import { type CallOptions, createEndpoints, theService } from '../../../src/client/request.ts';
import type { RawResponse } from '../../../src/client/response.ts';
import { createServerClock, machineClock } from '../../../src/client/time.ts';
import { formatDuration } from '../../../src/interface/duration.ts';
import type { LockPath } from '../../../src/interface/lock-path.ts';
import { problemTypePrefix } from '../../../src/interface/problem.ts';
import type { Entry, Grant } from '../../../src/locks/ledger/entry.ts';
import { historyOf } from '../../../src/locks/ledger/history.ts';
import type { RenewalEndReason } from '../../../src/locks/renewal/follow-locks.ts';
import { renewLocks } from '../../../src/locks/renewal/renew-locks.ts';
import { attemptMs, createSchedule } from '../../../src/locks/renewal/schedule.ts';
import { lockPath, ttl as ttlOf, workspaceId } from '../../client/test-client.ts';
import { runs } from '../../support/runs.ts';
import { printedSeed } from '../../support/seed.ts';
import { addressOf, grantOf, iso, lockOf, place, start } from '../samples.ts';
import { createVirtualTime } from '../virtual-time.ts';

const second = 1_000;

interface Sent {
  readonly method: string;
  readonly path: string;
  /** Time since the start. */
  readonly ms: number;
  readonly match: string | undefined;
}

interface Reply {
  readonly status: number;
  /** A string is an HTML page. */
  readonly body?: object | string;
  readonly etag?: string;
  /** Sends the body unchanged. A refusal of the service itself is sent as problem details. */
  readonly ofGateway?: true;
}

interface Scene {
  readonly paths?: readonly string[];
  /** The lock whose first renewal by the step had no response. */
  readonly unanswered?: LockPath;
  /** The ledger before the first look, apart from the grants. */
  readonly ledger?: readonly Entry[];
  readonly ttlSeconds?: number;
  /** Lifetime that the service grants, if it is less, and to which it shortens each renewal. */
  readonly grantedSeconds?: number;
  readonly renewedSeconds?: number;
  /** How long after the grants their responses arrived. */
  readonly responseDelaySeconds?: number;
  /** `down` refuses the connection, `silent` never answers; otherwise the service renews existing locks. */
  readonly response?: (sent: Sent, number: number) => Reply | 'down' | 'silent' | undefined;
  readonly latencyMs?: (sent: Sent) => number;
  /** Entries and failures of the ledger and the worker, by time. */
  readonly events?: readonly (readonly [ms: number, event: Entry | 'worker-gone' | 'ledger-gone'])[];
  /** Time when the renewal is stopped at the latest. */
  readonly untilMs?: number;
  readonly random?: () => number;
  /** Whether the ledger can be written. */
  readonly writable?: boolean;
}

const stop: Entry = { kind: 'step-ended', step: 's', at: iso(0) };
const releasing = (path: string): Entry => ({ kind: 'releasing', ...addressOf(path), id: `lock_${path}`, at: iso(0) });
const down = (fromMs: number, toMs: number) => (sent: Sent) =>
  sent.ms >= fromMs && sent.ms < toMs ? 'down' : undefined;

/** Responses of gateways that cannot reach the service. */
const gatewayReplies = [
  ...[404, 403, 401, 502, 200].map((status) => ({ status, body: '<h1>A page</h1>' })),
  ...[404, 200, 412].map((status) => ({ status })),
  { status: 403, body: { message: 'Missing Authentication Token' } },
  { status: 404, body: { message: 'no Route matched with those values', request_id: '108134052a77553f' } },
].map((reply): Reply => ({ ...reply, ofGateway: true }));

type VirtualOptions = Pick<CallOptions, 'baseUrl' | 'send' | 'clock' | 'sleep' | 'random' | 'timeoutMs' | 'retries'>;

const never = new AbortController().signal;
const silent = createClient({
  baseUrl: 'http://127.0.0.1:8080/v1',
  credentials: { kind: 'static', token: 'wsa_virtual' },
  userAgent: 'test',
});

/** A client with simulated time and service. Calls about syncs, hooks and tokens send no requests. */
function createVirtualClient(options: VirtualOptions) {
  const { baseUrl, clock } = options;
  const serverClock = createServerClock(clock);
  const marks = createMarks(undefined);
  const call = createCall({
    ...options,
    server: theService,
    serverClock,
    headers: {},
    secrets: [],
    closed: never,
    marks,
  });
  const context = { call, endpoints: createEndpoints(baseUrl), clock, serverNow: serverClock.now };
  const client: Client = {
    ...silent,
    ...createLists(context),
    serverNow: serverClock.now,
    acquireLock: createAcquireLock(context),
    releaseLock: createReleaseLock(context),
    renewLock: createRenewLock(context),
  };
  return client;
}

/** A response as sent over the wire: with a page if the body is text, and with JSON otherwise. */
const rawResponse = (status: number, body?: unknown, headers: RawResponse['headers'] = {}): RawResponse => ({
  status,
  headers,
  bytes: Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)),
  tooLarge: false,
});

/** The real loop and client, a service in memory, and virtual time. */
async function renewing({
  paths = ['a'],
  unanswered,
  ledger = [],
  ttlSeconds = 60,
  grantedSeconds = ttlSeconds,
  renewedSeconds = grantedSeconds,
  responseDelaySeconds = 0,
  response = () => undefined,
  latencyMs = () => 20,
  events = [],
  untilMs = 10 * ttlSeconds * second,
  random = () => 0.5,
  writable = true,
}: Scene) {
  const time = createVirtualTime(start);
  const { now: clock, sleepUnless: sleep, after } = time;
  // The time limits of requests.
  vi.stubGlobal('setTimeout', (work: () => void, ms: number) => after(ms, work));
  vi.stubGlobal('clearTimeout', (cancel: () => void) => cancel());
  const grants = paths.map((path): Grant => {
    const [acquiredMs, endMs] = [0, grantedSeconds].map((seconds) => (seconds - responseDelaySeconds) * second);
    const times = { acquired_at: iso(acquiredMs ?? 0), expires_at: iso(endMs ?? 0) };
    return grantOf(path, { lock: lockOf(path, { id: `lock_${path}`, ...times }) });
  });
  const entries: Entry[] = [...grants, ...ledger];
  const ttl = ttlOf(formatDuration({ seconds: ttlSeconds }));
  const sent: Sent[] = [];
  /** Expiry of each lock in the service. */
  const ends = new Map(grants.map(({ path, lock }): [string, number] => [path, Date.parse(lock.expires_at)]));
  /** Shortest remaining lifetime of any lock at its renewal. */
  let leastLeftMs = Number.POSITIVE_INFINITY;
  const running = new Map<string, number>();
  let mostRunning = 0;
  let looks: (() => void) | undefined;
  let workerGone = false;
  // At 0 s, before the first look: only the grants that the step has handed over are known.
  let ledgerGone = events.some(([ms, event]) => ms === 0 && event === 'ledger-gone');
  let starts = 0;

  /** The list of the locks on a path. These requests are not counted. */
  async function lookUp(target: string, signal: AbortSignal): ReturnType<CallOptions['send']> {
    const path = new URL(target, place.service).searchParams.get('path') ?? '';
    const reply = response({ method: 'GET', path, ms: clock() - start, match: undefined }, sent.length);
    await sleep(20, signal);
    if (signal.aborted || typeof reply === 'string')
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    if (reply?.ofGateway) return rawResponse(reply.status, reply.body);
    const locks = reply?.status !== 404 && (ends.get(path) ?? 0) > clock() ? [{ path, id: `lock_${path}` }] : [];
    return rawResponse(200, { locks });
  }

  const send: CallOptions['send'] = async ({ method, target, headers, body }, signal) => {
    if (method === 'GET') return lookUp(target, signal);
    const path: string =
      body === undefined ? decodeURIComponent(target.split('/').at(-1) ?? '') : JSON.parse(body).path;
    const request: Sent = { method, path, ms: clock() - start, match: headers['if-match'] };
    const mine = (running.get(path) ?? 0) + 1;
    running.set(path, mine);
    mostRunning = Math.max(mostRunning, mine);
    try {
      const reply = response(request, sent.push(request) - 1);
      await sleep(reply === 'silent' ? 10 ** 9 : latencyMs(request), signal);
      if (signal.aborted || reply === 'down') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const end = ends.get(path) ?? 0;
      const has = end > clock();
      if (reply === undefined && has && method === 'POST') {
        leastLeftMs = Math.min(leastLeftMs, end - clock());
        ends.set(path, clock() + renewedSeconds * second);
      }
      const lock = { path, id: `lock_${path}`, expires_at: new Date(clock() + renewedSeconds * second).toISOString() };
      const plain: Reply = has ? { status: 200, body: lock } : { status: 412 };
      const { status, body: given, etag, ofGateway } = typeof reply === 'object' ? reply : plain;
      const isProblem = status >= 400 && ofGateway !== true;
      const value = isProblem ? { type: `${problemTypePrefix}of-a-test`, ...Object(given) } : given;
      return rawResponse(status, value, { ...(etag !== undefined && { etag }) });
    } finally {
      running.set(path, (running.get(path) ?? 1) - 1);
    }
  };
  const baseUrl = new URL(place.service);
  const attempts = { timeoutMs: attemptMs(ttlSeconds * second), retries: 1_000 };
  const client = createVirtualClient({ ...attempts, baseUrl, send, clock, sleep, random });

  for (const [ms, event] of [...events, [untilMs, stop] as const]) {
    after(ms, () => {
      if (event === 'worker-gone') workerGone = true;
      else if (event === 'ledger-gone') ledgerGone = true;
      else entries.push(event);
      looks?.();
    });
  }
  let position = 0;
  const end: RenewalEndReason = await time.pass(
    renewLocks({
      ...{ client, clock, sleep },
      record: (entry) => (writable ? void entries.push(entry) : undefined),
      follow() {
        if (ledgerGone) throw new Error('ENOENT');
        const news = entries.slice(position);
        position = entries.length;
        return news;
      },
      isWorkerGone: () => workerGone,
      onStart() {
        starts += 1;
      },
      watch(look) {
        looks = look;
        return () => undefined;
      },
      ...place,
      step: 's',
      ttl,
      grants,
      unanswered,
      maxDays: 5,
      schedule: createSchedule({ clock, random, client }, { ttl, requestTimeoutMs: attempts.timeoutMs, ageMs: 0 }),
    }),
  );
  const of = <Kind extends Entry['kind']>(kind: Kind) =>
    entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind);
  return { end, sent, of, entries, endedAfterMs: clock() - start, leastLeftMs, mostRunning, starts };
}

const times = (sent: readonly Sent[], path = 'a'): readonly number[] =>
  sent.filter((one) => one.path === path).map(({ ms }) => ms);

const gaps = (all: readonly number[]): readonly number[] => all.slice(1).map((ms, index) => ms - (all[index] ?? 0));

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each<[string, Scene, number]>([
  ['once if there are locks to renew', {}, 1],
  ['never if there are none', { paths: [] }, 0],
])('reports its start %s', async (_, scene, count) => {
  expect((await renewing(scene)).starts).toBe(count);
});

describe('the renewal of locks', () => {
  test.each([
    ['a third of their ttl', 60, 60, 0, 20],
    ['a little less, by chance', 60, 60, 0.999, 15],
    ['a third of what the service grants, if that is less', 60, 12, 0, 4],
  ])('is sent after %s', async (_, ttlSeconds, grantedSeconds, chance, seconds) => {
    const { sent, leastLeftMs } = await renewing({ ttlSeconds, grantedSeconds, random: () => chance });
    expect(sent[0]).toMatchObject({ method: 'POST', match: '"lock_a"' });
    for (const gap of [times(sent)[0] ?? 0, ...gaps(times(sent))]) {
      expect(gap / (seconds * second)).toBeGreaterThan(0.99);
      expect(gap / (seconds * second)).toBeLessThan(1.02);
    }
    expect(leastLeftMs).toBeGreaterThan(grantedSeconds * second * 0.6);
  });

  test.each<[string, Scene]>([
    ['the service renews it for less time than it granted', { renewedSeconds: 12 }],
    ['the response to its request arrived late', { responseDelaySeconds: 45 }],
  ])('is in time if %s', async (_, scene) => {
    const { of, leastLeftMs } = await renewing(scene);
    expect(of('renewed').length).toBeGreaterThan(9);
    expect(of('lost')).toEqual([]);
    expect(leastLeftMs).toBeGreaterThan(7 * second);
  });

  const endingAt = (end: (ms: number) => number): Scene => ({
    response: ({ path, ms }) => ({ status: 200, body: { path, id: 'lock_a', expires_at: iso(end(ms)) } }),
  });

  test.each<[string, Scene, number]>([
    ['reports an expiry in the past', endingAt(() => -3_600 * second), 600 / 1.5],
    ['grants next to nothing', { ...endingAt((ms) => ms), grantedSeconds: 0.001 }, 600 / 1.5],
    ['cannot be reached', { response: () => 'down' }, 600 / 0.5],
    ['rejects the renewals', { response: () => ({ status: 401 }) }, 40],
    ['responds, but the ledger cannot be written', { writable: false }, 40],
  ])('is sent at a moderate rate if the service %s', async (_, scene, most) => {
    const { sent } = await renewing({ ...scene, random: () => 0 });
    expect(sent.length).toBeGreaterThan(9);
    expect(sent.length).toBeLessThanOrEqual(most);
  });

  test('stops for locks that are released, even in the middle of a round', async () => {
    const paths = Array.from({ length: 40 }, (_each, index) => `p${index}`);
    const { sent, end } = await renewing({
      paths,
      latencyMs: () => 500,
      events: [
        [5 * second, { kind: 'ended', ...addressOf('p0'), at: iso(0) }],
        // Sixteen requests are in progress at this time, and the others have not started.
        [18_100, releasing('p39')],
        ...paths.slice(1, 39).map((path) => [70 * second, releasing(path)] as const),
      ],
    });
    expect(times(sent, 'p0')).toEqual([]);
    expect(times(sent, 'p39')).toEqual([]);
    expect(times(sent, 'p38').length).toBeGreaterThan(2);
    expect(Math.max(...sent.map(({ ms }) => ms))).toBeLessThanOrEqual(70 * second);
    // The service may refuse the releases.
    expect(end).toBe('stopped');
  });

  const acquired: Entry = { kind: 'acquired', ...place, step: 's', at: iso(0) };
  const started: Entry = { kind: 'step-started', step: 's', at: iso(0) };
  const otherLease: Entry = { kind: 'lease-ended', ...place, step: 't', lease: 't', at: iso(0) };
  const unnamed = { kind: 'releasing', ...addressOf('a'), at: iso(0) } as const;
  const refused: readonly Entry[] = [acquired, releasing('a'), { ...unnamed, id: 'lock_a', failed: true }];

  test.each<[string, readonly Entry[], boolean]>([
    ['continues after the release of an earlier lock on the path', [unnamed, acquired], true],
    ['continues after the release of a lock of another step', [{ ...unnamed, id: 'lock_a', key: 't' }], true],
    ['continues after the release of a lock with another id', [{ ...unnamed, id: 'lock_z' }], true],
    ['continues after a release in another workspace', [{ ...unnamed, workspace: workspaceId('film') }], true],
    ['continues after the end of another lease', [otherLease], true],
    ['pauses after a release by key', [acquired, { ...unnamed, key: 'a' }], false],
    ['pauses after a release by id', [acquired, releasing('a')], false],
    ['pauses after a release by id before it had all its locks', [started, releasing('a'), acquired], false],
    ['continues after the release of an earlier lock with the same id', [releasing('a'), started, acquired], true],
    ['pauses after a release by path alone', [acquired, unnamed], false],
    ['continues after a release that was refused', refused, true],
    ['pauses after a refused release and another one', [...refused, releasing('a')], false],
  ])('%s', async (_, ledger, continues) => {
    const { sent, end } = await renewing({ ledger });
    expect([sent.length > 0, end]).toEqual([continues, 'stopped']);
  });

  test.each<[string, Entry]>([
    ['of the lock', { kind: 'ended', ...addressOf('a'), id: 'lock_a', at: iso(0) }],
    ['on its path, whichever lock that was', { kind: 'ended', ...addressOf('a'), at: iso(0) }],
  ])('ends after the end %s', async (_, ended) => {
    await expect(renewing({ ledger: [acquired, ended] })).resolves.toMatchObject({ sent: [], end: 'nothing-left' });
  });

  test('resumes for the only lock of a step once its release was refused', async () => {
    const { sent } = await renewing({
      events: [
        [10 * second, releasing('a')],
        [50 * second, { ...unnamed, id: 'lock_a', failed: true }],
      ],
    });
    expect(times(sent).filter((ms) => ms < 50 * second)).toEqual([]);
    expect(times(sent).length).toBeGreaterThan(10);
  });

  test('keeps its normal rate if only one lock is refused', async () => {
    const response = ({ path }: Sent) => (path === 'b' ? { status: 422 } : undefined);
    const { sent } = await renewing({ paths: ['a', 'b'], response });
    expect(times(sent).length).toBeLessThan(40);
    expect(times(sent, 'b').length).toBeGreaterThan(20);
  });
});

describe('the ledger of a renewed step', () => {
  test('has one line per round, with its first expiry and the locks that it left out', async () => {
    const response = ({ path }: Sent) => (path === 'b' ? { status: 422 } : undefined);
    const latencyMs = ({ path }: Sent) => (path === 'a' ? 500 : 20);
    const scene = { paths: ['a', 'b', 'c'], response, latencyMs, untilMs: 50 * second, random: () => 0 };
    const { of, sent } = await renewing(scene);
    expect(of('renewed')).toMatchObject([{ except: ['b'] }, { except: ['b'] }]);
    const [first] = times(sent, 'c');
    expect(of('renewed')[0]).toMatchObject({ step: 's', ...place, expires_at: iso((first ?? 0) + 20 + 60 * second) });
    const lastsMs = (of('renewed')[0]?.renewedUntil ?? 0) - machineClock();
    expect(lastsMs).toBeGreaterThan(50 * second);
    expect(lastsMs).toBeLessThanOrEqual(60 * second);
  });

  test('has a renewal error once while it lasts', async () => {
    const twice = (sent: Sent) => down(10 * second, 90 * second)(sent) ?? down(200 * second, 230 * second)(sent);
    const { of } = await renewing({
      response: (sent) => (sent.ms < 100 * second ? twice(sent) : undefined),
      ttlSeconds: 300,
      grantedSeconds: 300,
    });
    expect(of('unrenewed')).toEqual([]);
    const refusing = (sent: Sent) => (Math.floor(sent.ms / (100 * second)) % 2 === 1 ? { status: 401 } : undefined);
    const { of: then } = await renewing({ response: refusing, grantedSeconds: 600, untilMs: 2_000 * second });
    expect(then('unrenewed').length).toBeGreaterThan(1);
    const kinds = [...then('unrenewed'), ...then('renewed')]
      .toSorted((one, other) => (one.at < other.at ? -1 : 1))
      .map(({ kind }) => kind);
    expect(kinds.join(' ')).not.toContain('unrenewed unrenewed');
  });

  test('has each loss once, with the new holder, and the lost lock is not renewed again', async () => {
    const raw = { path: 'a', id: 'lock_z', owner: 'grace', origin: 'https://ci.example.com/7', expires_at: iso(0) };
    const response = ({ path, ms }: Sent) =>
      path === 'a' && ms > 30 * second ? { status: 412, body: { lock: raw } } : undefined;
    const { of, sent, end } = await renewing({ paths: ['a', 'b'], response });
    expect(of('lost')).toMatchObject([{ path: 'a', key: 'a', step: 's', holder: { owner: 'grace' } }]);
    expect(times(sent)).toHaveLength(2);
    expect(times(sent, 'b').length).toBeGreaterThan(20);
    expect(end).toBe('stopped');
  });

  test('has a loss in an outage that outlasts the lock, as soon as the outage ends', async () => {
    const { of, sent, end } = await renewing({ response: down(10 * second, 200 * second) });
    expect(times(sent).filter((ms) => ms > 70 * second && ms < 200 * second).length).toBeGreaterThan(10);
    expect(of('unrenewed')).toHaveLength(1);
    expect(of('lost')).toMatchObject([{ path: 'a' }]);
    expect(Date.parse(of('lost')[0]?.at ?? '') - start).toBeLessThan(212 * second);
    expect(end).toBe('nothing-left');
  });

  test('has a changed ETag as the same grant, and the next request uses it', async () => {
    const body = { path: 'a', id: 'lock_a' };
    const response = (_: Sent, number: number) => ({ status: 200, etag: `"v${number}"`, body });
    const { of, sent, entries } = await renewing({ response, untilMs: 65 * second });
    expect(sent.map(({ match }) => match)).toEqual(['"lock_a"', '"v0"', '"v1"']);
    expect(of('granted').map(({ key }) => key)).toEqual(['a', 'a', 'a', 'a']);
    const { held } = historyOf(entries);
    expect(held).toMatchObject([{ grant: { at: iso(0), lock: { etag: '"v2"' } } }]);
  });

  test('has no loss if only the first renewal, whose response was lost, has changed the lock', async () => {
    const lock = { path: 'a', id: 'lock_a', etag: '"v2"', acquired_at: iso(5 * second) };
    const response = (_: Sent, number: number) => (number === 0 ? { status: 412, body: { lock } } : undefined);
    const { of, sent, end } = await renewing({ unanswered: lockPath('a'), response });
    expect(sent.slice(0, 2).map(({ match }) => match)).toEqual(['"lock_a"', '"v2"']);
    expect([of('lost'), end]).toEqual([[], 'stopped']);
    const known = await renewing({ response });
    expect([known.of('lost').length, known.end]).toEqual([1, 'nothing-left']);
  });

  test.each<[string, Reply]>([
    ['has renewed it with another ETag', { status: 200, etag: '"v2"', body: { id: 'lock_a' } }],
    ['no longer has it', { status: 404 }],
  ])('gets no entry for a lock whose release started during its renewal if the service %s', async (_, reply) => {
    const { entries, end } = await renewing({
      response: () => reply,
      latencyMs: () => 500,
      events: [[19_200, releasing('a')]],
      random: () => 0.2,
    });
    expect(entries.map(({ kind }) => kind)).toEqual(['granted', 'releasing', 'step-ended']);
    expect(end).toBe('stopped');
  });

  test.each([
    ['released', 204, ['intent', 'ended', 'lost']],
    ['left to the post-step if its release fails', 403, ['intent', 'lost']],
  ])('has the loss of a lock that was replaced by a new one, and the new one is %s', async (_, status, kinds) => {
    const { sent, of, end, entries } = await renewing({
      response: ({ method }) => (method === 'POST' ? { status: 201, body: { id: 'lock_z' } } : { status }),
      latencyMs: () => 3 * second,
    });
    expect(entries.slice(1).map(({ kind }) => kind)).toEqual(kinds);
    // Written before the release: this process may be killed during it.
    expect(of('intent')).toMatchObject([{ path: 'a', step: 's', ttl: '1m', at: iso(times(sent)[0] ?? Number.NaN) }]);
    expect(historyOf(entries).unanswered).toHaveLength(status === 204 ? 0 : 1);
    expect(sent.map(({ method, match }) => [method, match])).toEqual([
      ['POST', '"lock_a"'],
      ['DELETE', '"lock_z"'],
    ]);
    expect(of('lost')).toMatchObject([{ path: 'a' }]);
    expect(end).toBe('nothing-left');
  });
});

test.each<[string, number, object, methods: readonly string[]]>([
  ['has no time, is lost, and the current one stays', 200, {}, ['POST']],
  ['is older than its renewal, is lost, and the current one stays', 200, { acquired_at: iso(0) }, ['POST']],
  ['is new is lost, and the new one is released', 200, { acquired_at: iso(3_600 * second) }, ['POST', 'DELETE']],
  ['is created is lost, and its release is not repeated', 201, {}, ['POST', 'DELETE']],
])('a lock in whose place the service returns one that %s', async (_, status, body, methods) => {
  const { sent, of, end } = await renewing({
    response: ({ method }) => (method === 'POST' ? { status, body: { id: 'lock_z', ...body } } : 'down'),
  });
  expect(sent.map(({ method }) => method)).toEqual(methods);
  expect(of('lost')).toMatchObject([{ path: 'a' }]);
  expect(end).toBe('nothing-left');
});

test('a lock that replaced one which a step releases meanwhile is released, however long that takes', async () => {
  const replies = [{ status: 201, etag: '"lock_z"', body: { id: 'lock_z' } }, 'down', { status: 204 }] as const;
  const { sent, of, end } = await renewing({
    response: (_, number) => replies[number],
    latencyMs: () => 3 * second,
    events: [[20 * second, releasing('a')]],
  });
  expect(times(sent)[0]).toBeLessThan(20 * second);
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'DELETE', 'DELETE']);
  expect(of('lost')).toEqual([]);
  expect(end).toBe('stopped');
});

test.each<[string, object, number]>([
  ['may be new', {}, 1],
  ['is older than the request', { acquired_at: iso(0) }, 0],
])('a lock that a renewal found while a step released ours, and that %s, is left alone', async (_, body, lines) => {
  const { sent, of } = await renewing({
    response: () => ({ status: 200, body: { id: 'lock_z', ...body } }),
    latencyMs: () => 3 * second,
    events: [[20 * second, releasing('a')]],
  });
  expect(sent.map(({ method }) => method)).toEqual(['POST']);
  expect(of('lost')).toEqual([]);
  const reason = expect.stringMatching(/^a was unlocked while .* \(id lock_z\)/);
  expect(of('left-alone')).toMatchObject(Array(lines).fill({ step: 's', reason }));
});

describe('the end of the renewal', () => {
  const day = 24 * 3_600 * second;
  const gone: Entry = { kind: 'ended', ...addressOf('a'), at: iso(0) };

  test.each<[RenewalEndReason, Scene['events'] & object, Partial<Scene>]>([
    ['stopped', [[30 * second, stop]], {}],
    ['worker-gone', [[30 * second, 'worker-gone']], {}],
    ['nothing-left', [[30 * second, gone]], {}],
    ['too-old', [], { ttlSeconds: 36_000, untilMs: 6 * day }],
  ])('has the reason %s', async (reason, events, scene) => {
    const { end, sent, endedAfterMs, entries, of } = await renewing({ events, ...scene });
    expect(end).toBe(reason);
    const expected = reason === 'too-old' ? 5 * day : 30 * second;
    expect(endedAfterMs).toBeGreaterThanOrEqual(expected);
    expect(endedAfterMs).toBeLessThan(1.1 * expected);
    expect(sent.every(({ ms }) => ms <= endedAfterMs)).toBe(true);
    // The post-step reports it if the locks expire after that.
    if (reason === 'too-old')
      expect(entries.at(-1)).toMatchObject({ kind: 'unrenewed', reason: expect.stringContaining('at most 5 days') });
    else expect(of('unrenewed')).toEqual([]);
  });

  test('does not follow the end of the ledger: the locks are renewed until the job ends', async () => {
    const events = [
      [0, 'ledger-gone'],
      [300 * second, 'worker-gone'],
    ] as const;
    const { end, sent, leastLeftMs } = await renewing({ events });
    expect(end).toBe('worker-gone');
    expect(sent.length).toBeGreaterThan(10);
    expect(leastLeftMs).toBeGreaterThan(30 * second);
  });

  test.each<[string, Scene['events'] & object, number]>([
    ['waits two seconds for requests in progress when it is stopped', [[19_500, stop]], 21_500],
    ['does not wait for requests when the worker is gone', [[19_500, 'worker-gone']], 19_500],
  ])('%s', async (_, events, endsAtMs) => {
    const paths = Array.from({ length: 20 }, (_each, index) => `p${index}`);
    const { sent, endedAfterMs } = await renewing({ paths, response: () => 'silent', events, random: () => 0.2 });
    expect(sent).toHaveLength(16);
    expect(endedAfterMs).toBe(endsAtMs);
    const slow = await renewing({ paths, latencyMs: () => second, events, random: () => 0.2 });
    expect(slow.sent).toHaveLength(16);
    expect(slow.of('renewed')).toHaveLength(endsAtMs === 21_500 ? 1 : 0);
  });
});

test('keeps every lock of a reachable service, without more requests than necessary', {
  timeout: runs(60, 900) * second,
}, async () => {
  const scene = fc.record({
    ttlSeconds: fc.integer({ min: 20, max: 900 }),
    locks: fc.integer({ min: 1, max: 24 }),
    latency: fc.double({ min: 0, max: 0.02, noNaN: true }),
    outages: fc.array(
      fc.record({
        gap: fc.double({ min: 0.6, max: 3, noNaN: true }),
        length: fc.double({ min: 0, max: 0.49, noNaN: true }),
        how: fc.constantFrom<'down' | 'silent' | Reply>('down', 'silent', ...gatewayReplies),
      }),
      { maxLength: 3 },
    ),
    released: fc.array(fc.tuple(fc.nat(23), fc.double({ min: 0, max: 8, noNaN: true })), { maxLength: 10 }),
    seed: fc.integer({ min: 1, max: 2 ** 31 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ ttlSeconds, locks, latency, outages, released, seed }) => {
      const ttlMs = ttlSeconds * second;
      let state = seed;
      const random = (): number => {
        state = (state * 48_271) % (2 ** 31 - 1);
        return state / 2 ** 31;
      };
      let from = 0;
      const away = outages.map(({ gap, length, how }) => {
        const begins = from + gap * ttlMs;
        from = begins + length * ttlMs;
        return { begins, ends: from, how };
      });
      const outageAt = (ms: number) => away.find(({ begins, ends }) => ms >= begins && ms < ends);
      const paths = Array.from({ length: locks }, (_, index) => `p${index}`);
      const { of, sent, leastLeftMs, mostRunning, endedAfterMs } = await renewing({
        ...{ paths, ttlSeconds, random, untilMs: 10 * ttlMs },
        latencyMs: () => latency * ttlMs * random(),
        response: ({ ms }) => outageAt(ms)?.how,
        events: released.map(([index, ttls]) => [ttls * ttlMs, releasing(`p${index}`)] as const),
      });
      expect(of('lost')).toEqual([]);
      expect(leastLeftMs).toBeGreaterThan(0);
      expect(mostRunning).toBeLessThanOrEqual(1);
      for (const path of paths) {
        const calm = times(sent, path).filter((ms) => outageAt(ms) === undefined);
        expect(calm.length).toBeLessThanOrEqual(endedAfterMs / (ttlMs / 4) + 3 * (1 + away.length));
      }
    }),
    { numRuns: runs(30, 2_000), seed: printedSeed('The renewals') },
  );
});
