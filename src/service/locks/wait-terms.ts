import { hash, randomUUID } from 'node:crypto';
import type { QueuePosition } from '../../interface/problem.ts';
import type { KeyedRequest } from '../idempotency/idempotency.ts';
import type { LockKey } from './find.ts';

/** Urgencies are 1 to 5. RFC 9218 section 4.1 also has 0, 6 and 7, finer steps than the line distinguishes. */
export const defaultUrgency = 3;

export const maxWaitSeconds = 30;

/** One level of urgency is worth this much waiting: a request that has waited longer still comes first. */
export const urgencyMs = 5 * 60_000;

/** Added to the time of arrival, so that requests are ranked by their urgency, too. */
export const bonusMsOf = (urgency: number): number => (urgency - defaultUrgency) * urgencyMs;

/** How long a client may be away without losing its place. */
export const placeKeptMs = 60_000;

/**
 * How long others wait for a client between two of its requests: a round trip and a commit. If shorter, a client could
 * be overtaken; if longer, a client that gave up would delay others more.
 */
export const requestGapMs = 300;

/** How long others wait for the clients of a killed instance. A running one renews their presence far sooner. */
export const presenceMs = 5_000;

/** How a client waits (RFC 7240, `Prefer: wait`). */
export interface WaitOptions {
  /** 0: the request gets a place in line, and an immediate response. */
  readonly seconds: number;
  readonly urgency: number;
  /** Aborted when the client has disconnected, so that it gets no lock. */
  readonly gone: AbortSignal;
  /** Rejects if the client has lost its permission in the meantime. */
  readonly authenticate: () => Promise<unknown>;
}

/** The place of a request in line. */
export interface Place extends Pick<WaitOptions, 'urgency' | 'gone'> {
  readonly requestId: string;
  /** Whether the request is not in line yet. Once in line, only the newest request of a client is decided. */
  readonly isFirst: boolean;
  readonly presentMs: number;
}

export type Waited<Decision> = Decision & {
  /** The preferred wait in seconds, if it was applied. */
  readonly waitedSeconds?: number | undefined;
  /** The place of a request that is still in line. */
  readonly queue?: QueuePosition | undefined;
};

/**
 * The ids of waits. The second word keeps the kinds apart, because ids of workspaces, tokens and leases, and keys,
 * contain no spaces.
 */
export const waitIds = {
  /**
   * A client that is not granted the lock asks again with a new key. Keys that differ only after their last slash share
   * one place in the line of a path.
   */
  ofRequest: (keyed: KeyedRequest | undefined, { workspace, path }: LockKey): string =>
    keyed === undefined
      ? `${workspace} lock ${randomUUID()}`
      : `${workspace} lock ${keyed.tokenId} ${keyed.key.replace(/(?<=.)\/[^/]*$/, '')} ${path}`,
  ofLease: ({ workspace, id }: Readonly<Record<'workspace' | 'id', string>>): string => `${workspace} lease ${id}`,
  /**
   * By owner, not by token: a session's token expires, and others are rotated, before a person's turn may come. Hashed,
   * because PostgreSQL limits the length of index entries: one has this id and the path.
   */
  ofPerson: (owner: string, { workspace, path }: LockKey): string =>
    `${workspace} ask ${hash('sha256', JSON.stringify([owner, path]))}`,
};
