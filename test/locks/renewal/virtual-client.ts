import { createAcquireLock } from '../../../src/client/acquire-lock.ts';
import { type CallOptions, createCall } from '../../../src/client/call.ts';
import { type Client, createClient } from '../../../src/client/client.ts';
import { createServerClock } from '../../../src/client/clock.ts';
import { createEndpoints } from '../../../src/client/endpoints.ts';
import { createLists } from '../../../src/client/lists.ts';
import { createReleaseLock } from '../../../src/client/release-lock.ts';
import { createRenewLock } from '../../../src/client/renew-lock.ts';
import type { RawResponse } from '../../../src/client/response.ts';

type VirtualClientOptions = Pick<
  CallOptions,
  'baseUrl' | 'send' | 'clock' | 'sleep' | 'startTimer' | 'random' | 'timeoutMs' | 'retries'
>;

const never = new AbortController().signal;
const silent = createClient({
  baseUrl: 'http://127.0.0.1:8080/v1',
  credentials: { kind: 'static', token: 'wsa_virtual' },
  userAgent: 'test',
});

/** A client with simulated time and service. Calls about syncs, hooks and tokens send no requests. */
export function createVirtualClient(options: VirtualClientOptions) {
  const { baseUrl, clock } = options;
  const serverClock = createServerClock(clock);
  const call = createCall({
    ...{ ...options, serverClock, headers: {}, secrets: [], closed: never },
  });
  const context = { call, endpoints: createEndpoints(baseUrl), baseUrl, clock, serverNow: serverClock.now };
  const client: Client = {
    ...silent,
    ...createLists(context),
    serverNow: serverClock.now,
    acquireLock: createAcquireLock(context),
    releaseLock: createReleaseLock(context),
    renewLock: createRenewLock(context),
  };
  return { call, client };
}

/** A response as sent over the wire: with a page if the body is text, and with JSON otherwise. */
export const rawResponse = (status: number, body?: unknown, headers: RawResponse['headers'] = {}): RawResponse => ({
  status,
  headers,
  bytes: Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)),
  tooLarge: false,
  mayBeTruncated: false,
});
