import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { subscriberOf } from '../platform/ip-address.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { remember } from '../runtime/remember.ts';

export type RequestLimit = ReturnType<typeof createRequestLimit>;

/** Requests of one token that run at the same time: more would delay others, because lists take long. */
const maxReads = 4;

/** Enough for commits to be grouped: each group is one flush to disk, for which all requests wait. */
const maxOthers = 128;

/** A request that takes longer waits for something else, such as a lock or a remote, and makes room for the next one. */
const maxMs = 100;

const maxKnown = 10_000;

interface RequestLimitOptions {
  /** A hash of the secret in the request, such as an API token; undefined if it has none. */
  readonly credentialOf: (incoming: IncomingMessage) => string | undefined;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
}

/**
 * Requests of one client over many connections arrive together, and would delay all others. They wait before anything
 * else, even before authentication. A credential that was valid before has the slots of its token. All other requests
 * share those of their IP address.
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
    /** Starts the request when there is a slot for it, unless its client has disconnected. */
    async wait(incoming: IncomingMessage, outgoing: ServerResponse, begin: () => void): Promise<void> {
      // A HEAD request does the work of a GET.
      const limit = ['GET', 'HEAD'].includes(incoming.method ?? '') ? reads : others;
      await limit(keyOf(incoming), async () => {
        // Gives others a turn between the requests of one token.
        await setImmediate();
        if (incoming.socket.destroyed) return;
        begin();
        await endOf(outgoing);
      });
    },
    /** Links the credential of the request to its token: later requests with it have the slots of the token. */
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
