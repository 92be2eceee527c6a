import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../seed.ts';
import { type Book, noteGrant } from './book.ts';
import { insist, type Traffic } from './insist.ts';

export interface Race {
  /** Of the balancer, with `/v1`. */
  readonly base: string;
  readonly token: string;
  readonly workspace: string;
  readonly paths: number;
  readonly traffic: Traffic;
  readonly book: Book;
  readonly isOver: () => boolean;
}

/** One in so many locks is short, and left to its end. */
const leftToExpire = 8;

const longestHoldMs = 400;
const longestPauseMs = 200;

/** Takes locks on paths that all others want too, and gives them back or lets them expire. */
export async function raceForLocks(race: Race, random: Random): Promise<void> {
  const { base, token, workspace, paths, traffic, book, isOver } = race;
  const locks = `/workspaces/${workspace}/locks`;
  while (!isOver()) {
    const path = `Content/asset-${Math.floor(random() * paths)}.bin`;
    const expires = random() < 1 / leftToExpire;
    const taken = await insist(traffic, base, 'POST', locks, {
      token,
      headers: { 'idempotency-key': randomUUID() },
      json: { path, type: 'exclusive', ttl: expires ? '1s' : '1h' },
    });
    if (taken.reply.status === 201) {
      const grant = noteGrant(book, taken.reply.body);
      await sleep(random() * longestHoldMs);
      if (!expires) {
        grant.releasing = true;
        const { id } = grant.lock;
        const released = await insist(traffic, base, 'DELETE', `${locks}/${encodeURIComponent(path)}`, {
          token,
          headers: { 'if-match': `"${id}"` },
        });
        const { status, text } = released.reply;
        // After a lost answer: it is gone, or somebody else's.
        const allowed = released.lost === 0 ? [204] : [204, 404, 412];
        if (!allowed.includes(status))
          book.violations.push(`The release of ${id} on ${path} was answered ${status} ${text}`);
        book.released.add(id);
      }
    } else if (taken.reply.status !== 409) {
      book.violations.push(`A lock on ${path} was answered ${taken.reply.status} ${taken.reply.text}`);
    }
    await sleep(random() * longestPauseMs);
  }
}
