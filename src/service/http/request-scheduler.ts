import type { IncomingMessage } from 'node:http';
import { subscriberOf } from '../platform/ip-address.ts';
import { remember } from '../runtime/remember.ts';
import { secretHash } from '../tokens/secret.ts';
import { createFairScheduler, type FairScheduler } from './fair-scheduler.ts';

export type RequestScheduler = ReturnType<typeof createRequestScheduler>;

/** Charges the time of the work to these tokens in equal parts: on SQLite, nothing else runs meanwhile. */
export async function measureCost<T>(
  { measured }: Pick<RequestScheduler, 'measured'>,
  tokenIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    const ms = (performance.now() - startedAt) / tokenIds.length;
    for (const tokenId of tokenIds) measured(tokenId, ms);
  }
}

interface RequestSchedulerOptions {
  /** The secret in the request, such as an API token; undefined if it has none. */
  readonly credentialOf: (incoming: IncomingMessage) => string | undefined;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly scheduler?: FairScheduler;
}

const maxKnown = 10_000;

/**
 * Requests wait for their turn before anything else, even before authentication. Credentials that were valid before get
 * the turns of their token. All other requests share the turns of their IP address.
 */
export function createRequestScheduler({
  credentialOf,
  addressOf,
  scheduler = createFairScheduler(),
}: RequestSchedulerOptions) {
  const tokenOf = new Map<string, string>();
  const keyOf = new WeakMap<IncomingMessage, string>();

  function findKey(incoming: IncomingMessage): string {
    const secret = credentialOf(incoming);
    const token = secret === undefined ? undefined : tokenOf.get(secretHash(secret));
    return token === undefined ? `address ${subscriberOf(addressOf(incoming) ?? '')}` : `token ${token}`;
  }

  function wait(incoming: IncomingMessage, begin: () => void, disconnected = (): void => undefined): void {
    const { socket } = incoming;
    const key = findKey(incoming);
    keyOf.set(incoming, key);
    let leave: (() => void) | undefined;
    // Otherwise requests of disconnected clients would fill the memory of an overloaded service.
    const left = (): void => {
      leave?.();
      disconnected();
    };
    socket.once('close', left);
    leave = scheduler.wait(key, () => {
      socket.off('close', left);
      begin();
    });
  }

  return {
    /** Starts the request at its turn, unless its client has disconnected. */
    wait: (incoming: IncomingMessage, begin: () => void): void => wait(incoming, begin),
    /** For the next part of a long response. Also resolves when the client has disconnected. */
    nextTurn: (incoming: IncomingMessage) => new Promise<void>((resolve) => wait(incoming, resolve, resolve)),
    /** Links the credential of the request to its token: later requests with it get the turns of the token. */
    identify(incoming: IncomingMessage, tokenId: string): void {
      if (keyOf.get(incoming) === `token ${tokenId}`) return;
      const secret = credentialOf(incoming);
      if (secret === undefined) return;
      remember(tokenOf, secretHash(secret), tokenId, maxKnown);
      keyOf.set(incoming, `token ${tokenId}`);
    },
    connected: scheduler.connected,
    measured: (tokenId: string, ms: number): void => scheduler.measured(`token ${tokenId}`, ms),
  };
}
