import type { Lock } from '../../../src/interface/resources.ts';

/** A lock that a client was told it has. */
export interface Grant {
  readonly lock: Lock;
  /** By the database's clock, which is this machine's. */
  readonly expiresAt: number;
  /** The client has begun to give it back. */
  releasing: boolean;
}

/** What the clients know, and what they found that must not be. */
export interface Book {
  readonly grants: Map<string, Grant>;
  /** By path: the last one granted. */
  readonly held: Map<string, Grant>;
  /** Of locks whose release was acknowledged. */
  readonly released: Set<string>;
  readonly violations: string[];
}

export const emptyBook = (): Book => ({ grants: new Map(), held: new Map(), released: new Set(), violations: [] });

/** The database rounds its clock to milliseconds. */
const roundingMs = 2;

/** Whether its client may count on it now. */
export const isHeld = ({ releasing, expiresAt }: Grant): boolean => !releasing && Date.now() + roundingMs < expiresAt;

export function noteGrant({ grants, held, violations }: Book, lock: Lock): Grant {
  const grant: Grant = { lock, expiresAt: Date.parse(lock.expires_at), releasing: false };
  const other = held.get(lock.path);
  if (grants.has(lock.id)) violations.push(`${lock.id} on ${lock.path} was given to two clients.`);
  grants.set(lock.id, grant);
  if (other !== undefined && isHeld(other)) {
    // What a replayed answer tells of may be over.
    if (isHeld(grant)) violations.push(`${lock.path} was given as ${lock.id} while ${other.lock.id} was held.`);
    return grant;
  }
  if (isHeld(grant)) held.set(lock.path, grant);
  return grant;
}
