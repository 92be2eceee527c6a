import { createAcquireLock } from '../../src/client/acquire-lock.ts';
import { addressesBelow } from '../../src/client/addresses.ts';
import type { Call, Request } from '../../src/client/call.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import type { SentRequest } from '../../src/client/connection.ts';
import { createReleaseLock } from '../../src/client/release-lock.ts';
import { createWaitForRelease } from '../../src/client/wait-for-release.ts';
import { milliseconds, parseDuration } from '../../src/interface/duration.ts';
import type { Asked } from './service.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The requests of the real client, in front of a service that is simulated. */

export const baseUrl = new URL('http://127.0.0.1:8080/v1');
const addresses = addressesBelow(baseUrl);

/** What the service is asked for, as it would read it from the wire. */
export function askedIn({ method, target, headers, body }: SentRequest): Asked {
  switch (method) {
    case 'POST': {
      const { path, ttl } = JSON.parse(body ?? '');
      const parsed = parseDuration(String(ttl));
      if (!parsed.ok) throw new Error(parsed.why);
      return {
        kind: 'take',
        path: String(path),
        key: headers['idempotency-key'] ?? '',
        ttlMs: milliseconds(parsed.value),
      };
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

/** How a step makes a client. What is not about single locks is that of a client that asks nobody. */
export function createClients({ now }: VirtualTime): (call: Call) => Client {
  const real = createClient({ baseUrl: baseUrl.href, token: 'wsa_simulated', userAgent: 'simulation', clock: now });
  return (call) => {
    const context = { call, addresses, baseUrl, clock: now, serverNow: now };
    return {
      ...real,
      serverNow: now,
      acquireLock: createAcquireLock(context),
      releaseLock: createReleaseLock(context),
      waitForRelease: createWaitForRelease(context),
    };
  };
}
