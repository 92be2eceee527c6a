import { randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import type { KeyedRequest } from '../idempotency/idempotency.ts';
import type { LockKey } from './find.ts';

/** Urgencies are 1 to 5: RFC 9218 section 4.1 without 0, 6 and 7, which would suggest more than the line keeps. */
export const defaultUrgency = 3;

export const maxWaitSeconds = 30;

/** One level of urgency is worth this much waiting: a request that has waited longer comes first. */
export const urgencyMs = 5 * 60_000;

/** How much later than it arrived a request counts, by its urgency. */
export const bonusMsOf = (urgency: number): number => (urgency - defaultUrgency) * urgencyMs;

/** How long a client may be away without losing its place. */
export const placeKeptMs = 60_000;

/**
 * How long others wait for a client between two of its requests: a round trip and a commit. With less, a client could
 * be overtaken; with more, one that has given up delays others longer.
 */
export const requestGapMs = 300;

/** How long others wait for the clients of an instance that was killed. It renews their presence much more often. */
export const presenceMs = 5_000;

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: number;
  /** Aborted when the client has disconnected: it gets no lock. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission meanwhile. */
  readonly authenticate: () => Promise<unknown>;
}

/** The place of a request in line. */
export interface Place extends Pick<WaitOptions, 'urgency' | 'gone'> {
  readonly requestId: string;
  /** Whether the request has not been in line yet. Afterwards, it is decided only if it is the newest of its client. */
  readonly isFirst: boolean;
  readonly presentMs: number;
}

export type Waited<Decision> = Decision & {
  /** The preferred wait, if it was applied. */
  readonly waitedSeconds?: number | undefined;
  /** The place of a request that is still in line. */
  readonly queue?: QueuePosition | undefined;
};

/**
 * The ids of waits. Their second words keep them apart: neither a workspace, a token, a key nor the id of a lease has a
 * space.
 */
export const waitIds = {
  /**
   * A client that is not granted the lock asks again with a new key. Keys that differ only after their last slash name one
   * place in the line of a path.
   */
  ofRequest: (keyed: KeyedRequest | undefined, { workspace, path }: LockKey): string =>
    keyed === undefined
      ? `${workspace} lock ${randomUUID()}`
      : `${workspace} lock ${keyed.tokenId} ${keyed.key.replace(/(?<=.)\/[^/]*$/, '')} ${path}`,
  ofLease: ({ workspace, id }: Readonly<Record<'workspace' | 'id', string>>): string => `${workspace} lease ${id}`,
  /** By owner: the token of a session ends, and others are rotated, before the turn of a person may come. */
  ofPerson: (owner: string, { workspace, path }: LockKey): string =>
    `${workspace} ask ${JSON.stringify([owner, path])}`,
};
