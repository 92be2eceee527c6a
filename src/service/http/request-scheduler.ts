import type { IncomingMessage } from 'node:http';
import { secretHash } from '../tokens/secret.ts';
import { type CancelWait, createFairScheduler, type FairScheduler } from './fair-scheduler.ts';

export interface RequestScheduler {
  /** Starts the request at its turn, unless its client has left. */
  wait(incoming: IncomingMessage, begin: () => void): void;
  /** Its credential is that of this token: what comes with it next has the turns of the token. */
  identify(incoming: IncomingMessage, tokenId: string): void;
  /** Records the cost of a request of this token. */
  measured(tokenId: string, ms: number): void;
  /** A connection was accepted. */
  connected(): void;
}

/**
 * Attributes the time of the work to these tokens in equal parts. On SQLite nothing else runs meanwhile: a lock with a
 * hundred hooks to notify takes as long as ten without any.
 */
export async function measureCost<T>(
  { measured }: Pick<RequestScheduler, 'measured'>,
  tokenIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } finally {
    const ms = (performance.now() - began) / tokenIds.length;
    for (const tokenId of tokenIds) measured(tokenId, ms);
  }
}

export interface RequestTurnsOptions {
  /** The secret that a request brings along, if it does. */
  readonly credentialOf: (incoming: IncomingMessage) => string | undefined;
  readonly addressOf: (incoming: IncomingMessage) => string | null;
  readonly turns?: FairScheduler;
}

/** Keys of tokens and sessions that sent a request recently. */
const maxKnown = 10_000;

/**
 * Requests wait for their turn before anything else, so before their credential is checked. Credentials that were valid
 * before have the turns of their token; all others of an address share its turns.
 */
export function createRequestScheduler({
  credentialOf,
  addressOf,
  turns = createFairScheduler(),
}: RequestTurnsOptions): RequestScheduler {
  const tokenOf = new Map<string, string>();
  const keyOf = new WeakMap<IncomingMessage, string>();

  function findKey(incoming: IncomingMessage): string {
    const secret = credentialOf(incoming);
    const token = secret === undefined ? undefined : tokenOf.get(secretHash(secret));
    return token === undefined ? `address ${addressOf(incoming)}` : `token ${token}`;
  }

  return {
    wait(incoming, begin) {
      const { socket } = incoming;
      const key = findKey(incoming);
      keyOf.set(incoming, key);
      let leave: CancelWait | undefined;
      // Requests whose clients are gone would fill the memory of a service that has more to do than it can.
      const left = (): void => leave?.();
      socket.once('close', left);
      leave = turns.wait(key, () => {
        socket.off('close', left);
        begin();
      });
    },
    identify(incoming, tokenId) {
      if (keyOf.get(incoming) === `token ${tokenId}`) return;
      const secret = credentialOf(incoming);
      if (secret === undefined) return;
      const [oldest] = tokenOf.keys();
      if (tokenOf.size >= maxKnown && oldest !== undefined) tokenOf.delete(oldest);
      tokenOf.set(secretHash(secret), tokenId);
      keyOf.set(incoming, `token ${tokenId}`);
    },
    connected: turns.connected,
    measured: (tokenId, ms) => turns.measured(`token ${tokenId}`, ms),
  };
}
