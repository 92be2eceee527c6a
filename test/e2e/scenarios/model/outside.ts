import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../../../src/service/contract/schemas.ts';
import type { FaultProxy } from '../../../support/fault-proxy.ts';
import type { Stage } from '../stage.ts';
import type { Book, Who } from './book.ts';
import type { Network } from './network.ts';
import type { Player, Players } from './players.ts';
import { isShort, type ShortLocks, shortTtlMs, toldInLedger } from './short-locks.ts';

interface Scene {
  readonly stage: Stage;
  readonly proxy: FaultProxy;
  readonly network: Network;
  readonly players: Players;
  readonly book: Book;
  readonly short: ShortLocks;
  /** Whether a job cannot notice that its lock was ended before its time, and would release a later one. */
  readonly hidesEnds: boolean;
}

const longMs = shortTtlMs + 1_000;

export type Outside = ReturnType<typeof openOutside>;

/** Events that affect the locks of jobs from outside. */
export function openOutside({ stage, proxy, network, players, book, short, hidesEnds }: Scene) {
  /** Ends a lock. Its renewal process, if any, must notice that soon. */
  async function endLock(wanted: string, end: (path: string) => Promise<void>): Promise<void> {
    if (hidesEnds) return;
    await short.look();
    const renewerOf = (lock: Lock): Player | undefined =>
      players.all.find(({ counted }) => counted.some(({ id, renewed }) => id === lock.id && renewed));
    const standing = (await stage.locks()).filter(({ id }) => short.isKept(id));
    const lock = standing.find(({ path }) => path === wanted) ?? standing.find(renewerOf) ?? standing[0];
    if (lock === undefined) return;
    const renewing = renewerOf(lock);
    await end(lock.path);
    book.broke(lock);
    // A ledger that was deleted no longer names the ids.
    if (renewing !== undefined) await toldInLedger(renewing, [lock.id]);
  }

  /** Without short locks, there is nothing to wait for. */
  const isAnyShort = async (): Promise<boolean> => (await stage.locks()).some(isShort);

  async function meddle(path: string, who: Who): Promise<void> {
    const token = who === 'stranger' ? stage.graces : stage.token;
    const address = `/v1/workspaces/${stage.workspace}/locks`;
    const theirs = book.others.get(path);
    if (theirs?.who === who) {
      const one = `${address}/${encodeURIComponent(path)}`;
      const { status } = await stage.service.ask('DELETE', one, { token, headers: { 'if-match': `"${theirs.id}"` } });
      // If the lock was gone already, someone else must have ended it.
      if (status === 204) book.others.delete(path);
      return;
    }
    const { status, body } = await stage.service.ask('POST', address, {
      token,
      json: { path, type: 'exclusive', ttl: '1h' },
      headers: { referer: `https://${who}.example.com` },
    });
    if (status === 201) book.others.set(path, { id: body.id, who });
  }

  return {
    /** Expires the lock on the path, or another lock if there is none, regardless of its announced end. */
    expire: (path: string) => endLock(path, stage.expire),
    /** Releases such a lock with force. */
    releaseByForce: (path: string) => endLock(path, stage.release),
    /** Takes the path if it is free, and releases it if the client holds it. */
    meddle,
    /** Does the same before the request with this number, counted from now on. */
    meddleAt: (at: number, path: string, who: Who) => network.interfere({ at, act: () => meddle(path, who) }),
    /** Waits longer than the short ttl of a lock that is not renewed, if such a lock exists. */
    async passTime(): Promise<void> {
      if (await isAnyShort()) await sleep(longMs);
    },
    /** Makes the service unavailable until locks that need renewal expire; others take these paths meanwhile. */
    async away(takes: readonly string[], who: Who): Promise<void> {
      await short.look();
      if (!(await isAnyShort())) return;
      const lost = players.all.map((player) => {
        const renewed = player.counted.filter((lock) => lock.renewed && short.isKept(lock.id));
        return { player, ids: renewed.map(({ id }) => id) };
      });
      proxy.down();
      short.endSoon(await stage.locks());
      await short.ended();
      for (const path of takes) await meddle(path, who);
      proxy.up();
      for (const { player, ids } of lost) await toldInLedger(player, ids);
    },
  };
}
