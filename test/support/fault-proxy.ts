import { once as nextEvent } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { parseTtl } from '../../src/interface/duration.ts';
import { problemMediaType, problemTypePrefix } from '../../src/interface/problem.ts';
import { listenHere } from './listen.ts';

/** A request on its way through the proxy. */
export interface Passing {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The paths of the locks that the request acquires, renews or releases; empty for other requests. */
  readonly paths: readonly string[];
  /** The first of them. */
  readonly path: string | undefined;
  /** The time of arrival, on the clock of the test. */
  readonly at: number;
}

/** A request with the response of the service. */
export interface Passed extends Passing {
  /** The status from the service; undefined if the request never reached it. */
  readonly status: number | undefined;
  readonly response: string;
  readonly answeredAt: number | undefined;
  readonly fault: Fault | undefined;
}

/** A fault that affects a request once, or its response after the service has processed it. */
export type Fault =
  | { readonly kind: 'cut' | 'silence' | 'done-then-cut' | 'done-then-silence' }
  /** A response instead of the one of the service. */
  | {
      readonly kind: 'answer' | 'done-then-answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The request reaches the service late, or the response reaches the client late. */
  | { readonly kind: 'held-back' | 'done-then-held-back'; readonly until: Promise<unknown> };

/** Differences between the service behind the proxy and ours, as seen by clients of the proxy. */
export interface Manner {
  /** Has no leases, like every service that is not ours. */
  readonly hasNoLeases?: boolean;
  /** Does not support idempotency keys. */
  readonly knowsNoKeys?: boolean;
  /** Responds at once, whatever `Prefer` requests. */
  readonly waitsForNothing?: boolean;
  /** Locks have neither ETag nor id, and conditions are not supported. */
  readonly givesNoProof?: boolean;
  /** The response to an acquired lock has no content. */
  readonly saysNothing?: boolean;
  /** Locks have an id, but no ETag. */
  readonly givesNoTag?: boolean;
  /** Locks have no id, and an ETag without quotes, in headers and bodies, which matches only without them. */
  readonly omitsQuotes?: boolean;
  /** A release has no condition: it releases whatever lock is on the path. */
  readonly ignoresConditions?: boolean;
  /** Locks have neither the URL of their run, nor the times of their start and their expiry. */
  readonly looksAlike?: boolean;
  /** The number of milliseconds that its clock is ahead. Read for each response. */
  readonly clockAheadMs?: () => number;
  /** The number of milliseconds that the clock of a gateway, which sets `Date`, is ahead of that of the service. */
  readonly dateAheadMs?: number;
  /** Its time runs faster by this factor from that moment on, in milliseconds since 1970. */
  readonly faster?: { readonly times: number; readonly since: number };
  /** Replaces the time to retry after, in seconds; null removes it. */
  readonly retryAfter?: number | null;
}

/** A refusal by the service itself, not by a gateway. */
export const refusal = (status: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': problemMediaType, ...headers },
  body: JSON.stringify({ type: `${problemTypePrefix}of-a-test`, title: 'No', status }),
});

/** The faults of the next matching requests; all others pass. */
export function once(
  match: (passing: Passing) => boolean,
  ...faults: readonly Fault[]
): (passing: Passing) => Fault | undefined {
  const coming = [...faults];
  return (passing) => (match(passing) ? coming.shift() : undefined);
}

export const isLocking = ({ method, path, url }: Passing): boolean =>
  (method === 'POST' && path !== undefined && !isOfLease(url)) || (method === 'PUT' && isOfLease(url));
export const isRenewing = (passing: Passing): boolean =>
  passing.url.endsWith('/renew') || (isLocking(passing) && passing.headers['if-match'] !== undefined);
export const isReleasing = ({ method, path }: Pick<Passing, 'method' | 'path'>): boolean =>
  method === 'DELETE' && path !== undefined;

export const isListing = ({ method, url }: Pick<Passing, 'method' | 'url'>): boolean =>
  method === 'GET' && /\/locks(\?|$)/.test(url);

/** The paths whose locks a request released. */
export function releasedBy({ status, response, ...one }: Passed): readonly string[] {
  if (!isReleasing(one) || (status !== 200 && status !== 204)) return [];
  if (!isOfLease(one.url)) return one.paths;
  return status === 204 ? [] : (JSON.parse(response) as { readonly released: readonly string[] }).released;
}

/** Like a service that knows only the interface, but has ETags and idempotency keys. */
export const pathByPath: Manner = { hasNoLeases: true };

const leaseIn = (url: string): string | undefined => /\/leases\/([^/?]+)/.exec(url)?.[1];
const isOfLease = (url: string): boolean => leaseIn(url) !== undefined;

/** Remembers the paths of each lease, which only its first request names. */
function createPathReader() {
  const leases = new Map<string, readonly string[]>();
  return (method: string, url: string, body: string): readonly string[] => {
    const lease = leaseIn(url);
    // Requests for a lease name paths or a pool, and requests for a lock have a path.
    if (lease !== undefined && method === 'PUT') {
      leases.set(lease, (JSON.parse(body) as { readonly paths?: readonly string[] }).paths ?? []);
    }
    if (lease !== undefined) return leases.get(lease) ?? [];
    const [, released] = /\/locks\/([^?]+)/.exec(url) ?? [];
    if (released !== undefined) return [decodeURIComponent(released)];
    if (method !== 'POST' || !/\/locks(\?|$)/.test(url)) return [];
    return [(JSON.parse(body) as { readonly path: string }).path];
  };
}

/** All but the times can be those of our service. */
const isOurs = (manner: Manner): boolean => !Object.values(manner).includes(true);

const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function timeAsTold(ms: number, { clockAheadMs = () => 0, faster = { times: 1, since: 0 } }: Manner): Date {
  const { times, since } = faster;
  return new Date(since + times * (ms - since) + clockAheadMs());
}

/** A faster time needs more seconds than the header of the service can express. */
const dateAsTold = (date: string, manner: Manner): string =>
  new Date(
    timeAsTold(manner.faster === undefined ? Date.parse(date) : Date.now(), manner).getTime() +
      (manner.dateAheadMs ?? 0),
  ).toUTCString();

/** The requested lifetime, converted to the time of the service. */
function slowedDown(body: string, { faster }: Manner): string {
  // Everything except a token exchange is JSON.
  if (faster === undefined || !body.startsWith('{')) return body;
  const asked = JSON.parse(body);
  const ttl = parseTtl(asked.ttl);
  return ttl.ok ? JSON.stringify({ ...asked, ttl: `${Math.ceil(ttl.value.seconds / faster.times)}s` }) : body;
}

function rewritten(value: unknown, manner: Manner): unknown {
  if (Array.isArray(value)) return value.map((each) => rewritten(each, manner));
  if (typeof value === 'string' && isTime.test(value)) return timeAsTold(Date.parse(value), manner).toISOString();
  if (typeof value !== 'object' || value === null) return value;
  const left = new Set<string>([
    ...(manner.givesNoProof || manner.omitsQuotes ? ['id'] : []),
    // Only our service has fences.
    ...(isOurs(manner) ? [] : ['fence']),
    ...(manner.looksAlike ? ['origin', 'acquired_at', 'expires_at'] : []),
  ]);
  // The problems of other services have other types.
  const isMark = (member: unknown): boolean => typeof member === 'string' && member.startsWith(problemTypePrefix);
  const members = Object.entries(value).filter(
    ([name, member]) => !left.has(name) && (isOurs(manner) || !isMark(member)),
  );
  const added = manner.omitsQuotes && 'fence' in value && 'id' in value ? { etag: value.id } : {};
  return { ...Object.fromEntries(members.map(([name, member]) => [name, rewritten(member, manner)])), ...added };
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function asTold({ status, headers, body }: Answered, manner: Manner, taking: boolean): Answered {
  const silent = manner.saysNothing === true && taking && status < 300;
  const isJson = (headers['content-type'] ?? '').includes('json') && body.length > 0;
  const told = isJson && !silent ? Buffer.from(JSON.stringify(rewritten(JSON.parse(body.toString()), manner))) : body;
  const { etag, date, 'retry-after': retryAfter, 'content-length': _, 'transfer-encoding': __, ...others } = headers;
  const seconds = manner.retryAfter === undefined ? retryAfter : manner.retryAfter?.toString();
  return {
    status,
    headers: {
      ...others,
      ...(etag !== undefined &&
        !manner.givesNoTag &&
        !manner.givesNoProof &&
        !silent && { etag: manner.omitsQuotes ? etag.replaceAll('"', '') : etag }),
      ...(date !== undefined && { date: dateAsTold(date, manner) }),
      ...(seconds !== undefined && { 'retry-after': seconds }),
    },
    body: silent ? Buffer.alloc(0) : told,
  };
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** Runs between the bundle and the service, and applies the faults of the test to requests. */
export async function startFaultProxy(port: number, manner: Manner = {}) {
  const passed: Passed[] = [];
  const agent = new Agent({ keepAlive: true });
  const pathsOf = createPathReader();
  let faultOf: (passing: Passing) => Fault | undefined = () => undefined;
  let isDown = false;

  const onwardHeaders = (method: string, headers: IncomingHttpHeaders): IncomingHttpHeaders => {
    // The length of the body may change on the way.
    const { 'idempotency-key': key, 'if-match': condition, 'content-length': __, prefer, ...all } = headers;
    const { connection: _, ...others } = all;
    const knowsCondition = !manner.givesNoProof && !(manner.ignoresConditions && method === 'DELETE');
    return {
      ...others,
      ...(prefer !== undefined && !manner.waitsForNothing && { prefer }),
      ...(key !== undefined && !manner.knowsNoKeys && { 'idempotency-key': key }),
      // With quotes around its own, a condition matches nothing.
      ...(condition !== undefined &&
        knowsCondition && { 'if-match': manner.omitsQuotes ? `"${condition}"` : condition }),
    };
  };

  const noRoute: Answered = {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"error":"Not found"}'),
  };

  async function askService({ method, url, headers, body }: Passing): Promise<Answered> {
    if (isOfLease(url) && !isOurs(manner)) return noRoute;
    const onward = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers: onwardHeaders(method, headers),
      agent,
    });
    onward.on('error', () => undefined).end(slowedDown(body, manner));
    const [response] = (await nextEvent(onward, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
  }

  async function pass(passing: Passing, response: ServerResponse): Promise<void> {
    const fault = faultOf(passing);
    const index = passed.push({ ...passing, fault, status: undefined, response: '', answeredAt: undefined }) - 1;
    const isAfter = fault?.kind.startsWith('done-then-');
    /** Returns whether nothing else happens to the request. */
    const happens = async (): Promise<boolean> => {
      if (fault === undefined) return false;
      if ('until' in fault) {
        await fault.until;
        return false;
      }
      if ('status' in fault) {
        // Its clock is that of the service.
        const date = timeAsTold(Date.now(), manner).toUTCString();
        response.writeHead(fault.status, { date, ...fault.headers }).end(fault.body);
      } else if (fault.kind.endsWith('cut')) response.socket?.resetAndDestroy();
      return true;
    };
    if (!isAfter && (await happens())) return;
    const answered = await askService(passing);
    const { status, body } = answered;
    passed[index] = { ...passing, fault, status, response: body.toString(), answeredAt: performance.now() };
    if (isAfter && (await happens())) return;
    const told = asTold(answered, manner, isLocking(passing));
    response.writeHead(told.status, told.headers).end(told.body);
  }

  const server = createServer(async (request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const { method = '', url = '', headers } = request;
    try {
      const body = await text(request);
      const paths = pathsOf(method, url, body);
      await pass({ method, url, headers, body, paths, path: paths[0], at: performance.now() }, response);
    } catch {
      // The client or the service has disconnected.
      response.socket?.destroy();
    }
  });
  server.on('connection', (socket) => {
    if (isDown) socket.resetAndDestroy();
  });
  const { port: listensAt, close } = await listenHere(server);
  return {
    baseUrl: `http://127.0.0.1:${listensAt}/v1`,
    /** All requests, in the order of their arrival. */
    get passed(): readonly Passed[] {
      return passed;
    },
    /** Called for each request; undefined lets it pass. */
    meet(fault: (passing: Passing) => Fault | undefined) {
      faultOf = fault;
    },
    /** Cuts every connection, including new ones, until it is up again. */
    down() {
      isDown = true;
      server.closeAllConnections();
    },
    up() {
      isDown = false;
    },
    close(): Promise<void> {
      agent.destroy();
      return close();
    },
  };
}
