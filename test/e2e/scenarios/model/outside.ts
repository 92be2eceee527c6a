import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../../../src/interface/resources.ts';
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
}

/** What happens to the locks of jobs, and is not done by their steps. */
export interface Outside {
  /** The time of the lock on the path is over, or of another one, whatever was said of its end. */
  expire(path: string): Promise<void>;
  /** The same, by somebody who may do that. */
  releaseByForce(path: string): Promise<void>;
  /** Takes the path if it is free, and gives it back if it is theirs. */
  meddle(path: string, who: Who): Promise<void>;
  /** The same, before the request of this number that comes next. */
  meddleAt(atRequest: number, path: string, who: Who): void;
  /** Longer than a lock with a short ttl lives that is not renewed, if there is one. */
  passTime(): Promise<void>;
  /** The service is away, for less than such a lock lives. */
  awayBriefly(): Promise<void>;
  /** It is away for longer than locks live that cannot be renewed; these paths are taken by others meanwhile. */
  away(takes: readonly string[], who: Who): Promise<void>;
  /** It is away as long as that takes. */
  awayWhile(work: () => Promise<void>): Promise<void>;
}

const longMs = shortTtlMs + 1_000;
/** What is renewed at a third of its time has more than that left. */
const briefMs = shortTtlMs / 4;

export function openOutside({ stage, proxy, network, players, book, short }: Scene): Outside {
  /** Whoever renews the lock is to know soon. */
  async function endLock(wanted: string, end: (path: string) => Promise<void>): Promise<void> {
    await short.look();
    const renewerOf = (lock: Lock): Player | undefined =>
      players.all.find(({ counted }) => counted.some(({ id, renewed }) => id === lock.id && renewed));
    const standing = (await stage.locks()).filter(({ id }) => short.isKept(id));
    const lock = standing.find(({ path }) => path === wanted) ?? standing.find(renewerOf) ?? standing[0];
    if (lock === undefined) return;
    const renewing = renewerOf(lock);
    await end(lock.path);
    book.broke(lock);
    if (renewing !== undefined) await toldInLedger(renewing.job, [lock.id]);
  }

  /** Without any, there is nothing to wait for. */
  const isAnyShort = async (): Promise<boolean> => (await stage.locks()).some(isShort);

  async function meddle(path: string, who: Who): Promise<void> {
    const token = who === 'stranger' ? stage.graces : stage.token;
    const address = `/v1/workspaces/${stage.workspace}/locks`;
    const theirs = book.others.get(path);
    if (theirs?.who === who) {
      const one = `${address}/${encodeURIComponent(path)}`;
      const { status } = await stage.service.ask('DELETE', one, { token, headers: { 'if-match': `"${theirs.id}"` } });
      // Where it was gone, whoever has ended it has to have a right to.
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

  async function awayWhile(work: () => Promise<void>): Promise<void> {
    proxy.down();
    await work();
    proxy.up();
  }

  return {
    expire: (path) => endLock(path, stage.expire),
    releaseByForce: (path) => endLock(path, stage.release),
    meddle,
    meddleAt: (at, path, who) => network.interfere({ at, act: () => meddle(path, who) }),
    async passTime() {
      if (await isAnyShort()) await sleep(longMs);
    },
    async awayBriefly() {
      if (await isAnyShort()) await awayWhile(() => sleep(briefMs));
    },
    async away(takes, who) {
      await short.look();
      if (!(await isAnyShort())) return;
      const lost = players.all.map(({ job, counted }) => {
        const renewed = counted.filter((lock) => lock.renewed && short.isKept(lock.id));
        return { job, ids: renewed.map(({ id }) => id) };
      });
      await awayWhile(async () => {
        short.endSoon(await stage.locks());
        await short.ended();
        for (const path of takes) await meddle(path, who);
      });
      for (const { job, ids } of lost) await toldInLedger(job, ids);
    },
    awayWhile,
  };
}
