import { createServer } from 'node:http';
import type { Grant } from '../../src/action/ledger/entry.ts';
import { type AcquireLocksResult, acquireLocks } from '../../src/action/locks/acquire.ts';
import { openLockSession } from '../../src/action/locks/session.ts';
import {
  maxRequestTimeout as maxReleaseTimeout,
  timeLimitMs as releaseTimeLimitMs,
} from '../../src/action/post-step/release.ts';
import { releaseClaims, retriesFor } from '../../src/action/post-step/release-claims.ts';
import { parseWorkspaceId } from '../../src/client/access.ts';
import type { SentRequest } from '../../src/client/connection.ts';
import type { ClientResponse } from '../../src/client/response.ts';
import type { StartTimer } from '../../src/client/time-limit.ts';
import { milliseconds, parseDuration } from '../../src/interface/duration.ts';
import { unlessAborted } from '../../src/interface/timers.ts';
import { parseTtl } from '../../src/interface/ttl.ts';
import type { Random } from '../../test/support/seed.ts';
import { createVirtualClient, type VirtualClientOptions } from '../../test/support/virtual-client.ts';
import type { VirtualTime } from '../../test/support/virtual-time.ts';
import type { Asked, SimulatedService } from './service.ts';
import { type Plan, requestTimeoutMs, retries, valueIn, type Workload } from './workload.ts';

/** The steps of a job: the action's own code and its client, with time and a service that are simulated. */

/** What all steps of a job have. */
export interface Job {
  readonly token: string;
  readonly random: Random;
  /** Of a request that the service was not asked to hold back. */
  readonly onResponse: (ms: number) => void;
}

type Attempts = Pick<VirtualClientOptions, 'timeoutMs' | 'retries'>;

const baseUrl = new URL('http://127.0.0.1:8080/v1');
const workspace = valueIn(parseWorkspaceId('game'));
const nothing = (): void => undefined;

/** As many as the client asks for. */
const pageSize = 1_000;

/** How long a server of Node keeps a connection that nobody uses, unless it is told otherwise; src/service does not. */
const keptMs = createServer().keepAliveTimeout;

/** What the service is asked for, as it would read it from the wire. */
function askedIn({ method, target, headers, body }: SentRequest): Asked {
  if (method === 'POST') {
    const { path, ttl } = JSON.parse(body ?? '');
    const ttlMs = milliseconds(valueIn(parseDuration(String(ttl))));
    return { kind: 'take', path: String(path), key: headers['idempotency-key'] ?? '', ttlMs };
  }
  if (method === 'DELETE') {
    const path = decodeURIComponent(target.slice(target.lastIndexOf('/') + 1));
    return { kind: 'release', path, match: headers['if-match'] };
  }
  const query = new URLSearchParams(target.split('?')[1]);
  const path = query.get('path');
  if (path === null) return { kind: 'page', locks: Number(query.get('limit')) };
  const { prefer } = headers;
  return prefer === undefined
    ? { kind: 'look', path }
    : { kind: 'wait', path, seconds: Number(prefer.replace('wait=', '')) };
}

/** Makes the client of each step, and counts the connections that all of them have at once. */
export function createClients({ now, after, fulfil, sleep }: VirtualTime, service: Pick<SimulatedService, 'send'>) {
  let connections = 0;
  let max = 0;

  /** Connections as a client keeps them: used again while they are kept, and closed with the step. */
  function keepConnections() {
    /** What keeps each idle connection from being closed, the last used last. */
    const idle: (() => void)[] = [];
    function close(keep: (() => void) | undefined): void {
      keep?.();
      connections -= 1;
    }
    return {
      /** Gives what ends the use. */
      use(): () => void {
        const keep = idle.pop();
        keep?.();
        if (keep === undefined) connections += 1;
        max = Math.max(max, connections);
        return () => void idle.push(after(keptMs, () => close(idle.shift())));
      },
      closeAll: () => idle.splice(0).forEach(close),
    };
  }

  return {
    maxConnections: () => max,
    resetMax(): void {
      max = connections;
    },
    open({ token, random, onResponse }: Job, attempts: Attempts) {
      const { use, closeAll } = keepConnections();
      function send(request: SentRequest, signal: AbortSignal): Promise<ClientResponse> {
        const endUse = use();
        const asked = askedIn(request);
        const sentAt = now();
        const answered = new Promise<ClientResponse>((resolve) =>
          service.send(asked, token, (response) => {
            if (asked.kind !== 'wait') onResponse(now() - sentAt);
            fulfil(resolve, response);
          }),
        );
        return unlessAborted(answered, signal).finally(endUse);
      }
      const startTimer: StartTimer = (ms, work) => after(ms, () => fulfil(work, undefined));
      const options = { ...attempts, baseUrl, send, clock: now, sleep, startTimer, random };
      return { ...createVirtualClient(options), close: closeAll };
    },
  };
}

/** A test gives others of them, to see what is simulated beside what is real. */
export interface StepParts extends Pick<VirtualTime, 'now' | 'sleep'> {
  readonly open: ReturnType<typeof createClients>['open'];
  readonly workload: Workload;
}

const ordinaryAttempts = { timeoutMs: requestTimeoutMs, retries };
const releaseTimeoutMs = Math.min(requestTimeoutMs, milliseconds(maxReleaseTimeout));

/** What a lock step has at its end. */
export const grantsOf = ({ round }: AcquireLocksResult): readonly Grant[] =>
  round.kind === 'acquired' ? round.grants : [];

export function createSteps({ now, sleep, open, workload }: StepParts) {
  const ttl = valueIn(parseTtl(`${workload.ttlSeconds}s`));
  const soon = () => ({ deadline: now() + releaseTimeLimitMs });

  /** Each step has connections of its own, which are closed at its end. */
  function begin(job: Job, attempts: Attempts) {
    const { call, client, close } = open(job, attempts);
    const timing = { clock: now, sleep, random: job.random };
    const context = { ...timing, client, step: 'step', origin: undefined, record: nothing, announce: nothing };
    return { call, context, session: openLockSession(context), close };
  }

  return {
    lock(job: Job, { paths }: Pick<Plan, 'paths'>): Promise<AcquireLocksResult> {
      const { context, session, close } = begin(job, ordinaryAttempts);
      const step = {
        ...context,
        session,
        terms: { service: baseUrl.href, workspace, type: 'exclusive', ttl },
        connection: { requestTimeout: { seconds: requestTimeoutMs / 1_000 } },
        signal: new AbortController().signal,
        log: { line: nothing, warn: nothing, debug: nothing, group: nothing },
      };
      const wanted = { paths, count: paths.length };
      return acquireLocks(step, wanted, { seconds: workload.waitSeconds }).finally(close);
    },

    /** The post-step: it releases what the job has, and asks about what it may have. */
    async release(job: Job, locked: AcquireLocksResult): Promise<void> {
      const held = grantsOf(locked).map((grant) => ({ grant, doubt: undefined }));
      const claims = { held, unanswered: locked.unanswered, trouble: undefined, renewalError: undefined };
      const { context, session, close } = begin(job, { timeoutMs: releaseTimeoutMs, retries: retriesFor(claims) });
      const { serverNow } = context.client;
      const log = { line: nothing };
      await releaseClaims({ ...context, session, serverNow, log }, baseUrl.href, claims, soon()).finally(close);
    },

    /** A guard that reads the list of so many locks, page after page. */
    async list(job: Job, locks: number): Promise<void> {
      const { call, close } = begin(job, ordinaryAttempts);
      const within = soon();
      for (let left = locks; left > 0; left -= pageSize) {
        const target = `/v1/locks?limit=${Math.min(left, pageSize)}`;
        if ((await call({ method: 'GET', target }, within)).kind === 'given-up') break;
      }
      close();
    },
  };
}
