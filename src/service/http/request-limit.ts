import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { subscriberOf } from '../platform/ip-address.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { remember } from '../runtime/remember.ts';

export type RequestLimit = ReturnType<typeof createRequestLimit>;

/** Parallel reads of one token. More would delay other clients, because lists take long. */
const maxReads = 4;

/** Enough to group commits: each group takes one flush to disk, and all of its requests wait for that. */
const maxOthers = 128;

/** After this time, a request probably waits for something else, such as a lock or a remote, and frees its slot. */
const maxMs = 100;

const maxKnown = 10_000;

interface RequestLimitOptions {
  /** A hash of the secret in the request, such as an API token; undefined if it has none. */
  readonly credentialOf: (incoming: IncomingMessage) => string | undefined;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
}

/**
 * Limits the parallel requests of each client: many connections at once would delay all other clients. Requests wait
 * before anything else, even authentication. A known credential uses the slots of its token, other requests use those
 * of their IP address.
 */
export function createRequestLimit({ credentialOf, addressOf }: RequestLimitOptions) {
  const reads = limitParallel({ max: Number.POSITIVE_INFINITY, maxPerKey: maxReads });
  const others = limitParallel({ max: Number.POSITIVE_INFINITY, maxPerKey: maxOthers });
  const tokenOf = new Map<string, string>();

  function keyOf(incoming: IncomingMessage): string {
    const token = tokenOf.get(credentialOf(incoming) ?? '');
    return token === undefined ? `address ${subscriberOf(addressOf(incoming) ?? '')}` : `token ${token}`;
  }

  return {
    /** Starts the request when a slot is free, unless its client has disconnected. */
    async wait(incoming: IncomingMessage, outgoing: ServerResponse, begin: () => void): Promise<void> {
      // HEAD takes as much work as GET.
      const limit = ['GET', 'HEAD'].includes(incoming.method ?? '') ? reads : others;
      await limit(keyOf(incoming), async () => {
        // Lets other requests run between those of one token.
        await setImmediate();
        if (incoming.socket.destroyed) return;
        begin();
        await endOf(outgoing);
      });
    },
    /** Links the credential of the request to its token. Later requests with it use the slots of the token. */
    identify(incoming: IncomingMessage, tokenId: string): void {
      const credential = credentialOf(incoming);
      if (credential !== undefined && tokenOf.get(credential) !== tokenId) {
        remember(tokenOf, credential, tokenId, maxKnown);
      }
    },
  };
}

const endOf = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs);
    outgoing.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
