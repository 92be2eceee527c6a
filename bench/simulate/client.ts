import { createServer } from 'node:http';
import { createAcquireLock } from '../../src/client/acquire-lock.ts';
import { addressesBelow } from '../../src/client/addresses.ts';
import type { Answer } from '../../src/client/answer.ts';
import { createCall, type Request } from '../../src/client/call.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { createServerClock } from '../../src/client/clock.ts';
import { maxConnections, type SentRequest } from '../../src/client/connection.ts';
import { createReleaseLock } from '../../src/client/release-lock.ts';
import { createWaitForRelease } from '../../src/client/wait-for-release.ts';
import { milliseconds, parseDuration } from '../../src/interface/duration.ts';
import type { Random } from './chance.ts';
import type { Asked, SimulatedService } from './service.ts';
import type { VirtualTime } from './virtual-time.ts';
import { valueIn } from './workload.ts';

/** The real client with its timers, pauses and requests in virtual time, in front of a service that is simulated. */

export const baseUrl = new URL('http://127.0.0.1:8080/v1');
const addresses = addressesBelow(baseUrl);

/** How long a server of Node keeps a connection that nobody uses, unless it is told otherwise; src/service does not. */
const keptMs = createServer().keepAliveTimeout;

/** What the service is asked for, as it would read it from the wire. */
function askedIn({ method, target, headers, body }: SentRequest): Asked {
  switch (method) {
    case 'POST': {
      const { path, ttl } = JSON.parse(body ?? '');
      const ttlMs = milliseconds(valueIn(parseDuration(String(ttl))));
      return { kind: 'take', path: String(path), key: headers['idempotency-key'] ?? '', ttlMs };
    }
    case 'DELETE': {
      const path = decodeURIComponent(target.slice(target.lastIndexOf('/') + 1));
      return { kind: 'release', path, match: headers['if-match'] };
    }
    case 'GET': {
      const query = new URLSearchParams(target.split('?')[1]);
      const path = query.get('path');
      if (path === null) return { kind: 'page', locks: Number(query.get('limit')) };
      return { kind: 'wait', path, seconds: Number(headers['prefer']?.replace('wait=', '')) };
    }
    default:
      throw new Error(`The simulated service knows no ${method}.`);
  }
}

/** A page of a list; how many locks are on it the simulation knows without asking. */
export const pageRequest = (locks: number): Request => ({ method: 'GET', target: `/v1/locks?limit=${locks}` });

export interface ClientOptions {
  readonly service: Pick<SimulatedService, 'send'>;
  readonly token: string;
  readonly random: Random;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Of a request that the service was not asked to hold back. */
  readonly onAnswer: (ms: number) => void;
}

/** Makes the client of each step, and counts the connections that all of them have at once. */
export function createClients({ now, after, fulfil, sleep }: VirtualTime) {
  const nothing = (): void => undefined;
  const closed = new AbortController().signal;
  const real = createClient({ baseUrl: baseUrl.href, token: 'wsa_simulated', userAgent: 'simulation', clock: now });
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
    /** What is not about single locks is that of a client that asks nobody. */
    open({ service, token, onAnswer, ...options }: ClientOptions) {
      const { use, closeAll } = keepConnections();
      const call = createCall({
        ...options,
        baseUrl,
        send(request, signal) {
          const endUse = use();
          const { promise, resolve, reject } = Promise.withResolvers<Answer>();
          const stop = (): void => reject(signal.reason);
          signal.addEventListener('abort', stop, { once: true });
          const asked = askedIn(request);
          const sentAt = now();
          service.send(asked, token, (answer) => {
            if (asked.kind !== 'wait') onAnswer(now() - sentAt);
            fulfil(resolve, answer);
          });
          return promise.finally(() => {
            signal.removeEventListener('abort', stop);
            endUse();
          });
        },
        clock: now,
        serverClock: createServerClock(now),
        sleep,
        startTimer: (ms, work) => after(ms, () => fulfil(work, undefined)),
        maxConnections,
        secrets: [],
        headers: {},
        closed,
        onAnswer: nothing,
        onRetry: nothing,
        onThrottled: nothing,
      });
      const context = { call, addresses, baseUrl, clock: now, serverNow: now };
      const client: Client = {
        ...real,
        serverNow: now,
        acquireLock: createAcquireLock(context),
        releaseLock: createReleaseLock(context),
        waitForRelease: createWaitForRelease(context),
      };
      return { call, client, close: closeAll };
    },
  };
}

export type SimulatedClients = ReturnType<typeof createClients>;
