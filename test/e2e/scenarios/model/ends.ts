import { existsSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Lock } from '../../../../src/service/contract/schemas.ts';
import { type FaultProxy, isReleasing, type Passed } from '../../../support/fault-proxy.ts';
import { ledgerOf } from '../ledger.ts';
import type { Stage } from '../stage.ts';
import { type Book, type Counted, conclusionsOfPost } from './book.ts';
import { isLostUnnoticed, type Network } from './network.ts';
import type { Player, Players } from './players.ts';
import { refusedRenewals, type ShortLocks, toldInLedger } from './short-locks.ts';
import { signal } from './stopping.ts';

interface Scene {
  readonly stage: Stage;
  readonly proxy: FaultProxy;
  readonly network: Network;
  readonly players: Players;
  readonly book: Book;
  readonly short: ShortLocks;
  /** Whether the service has no ids and ETags. */
  readonly givesNoProof: boolean;
}

const soon = { timeout: 30_000, interval: 50 };

export type Ends = ReturnType<typeof openEnds>;

/** The ends of jobs and of their renewal processes, with the expected results. */
export function openEnds({ stage, proxy, network, players, book, short, givesNoProof }: Scene) {
  const finished = new Set<string>();
  /** The logs of the post-steps of each job. */
  const logs = new Map<string, string>();
  /** Locks that ended jobs have handed over, or left because nobody can verify their holder. */
  const outliving = new Set<string>();

  const locksOf = async ({ origin }: Player): Promise<readonly Lock[]> =>
    (await stage.locks()).filter((lock) => lock.origin === origin);

  /** The player, or another one with renewed locks if it has none. */
  function renewingOr(wanted: Player): Player {
    const renews = ({ counted }: Player): boolean => counted.some(({ id, renewed }) => renewed && short.isKept(id));
    return renews(wanted) ? wanted : (players.all.find(renews) ?? wanted);
  }

  /**
   * Whether its only release was lost on the way, or never sent: it is not repeated if nothing identifies the lock, because
   * another job may hold the path. A post-step must report that.
   */
  function isReleaseLost({ isStopped }: Player, { path, origin, acquired_at }: Lock): boolean {
    const heldSince = Date.parse(acquired_at) - performance.timeOrigin;
    const isOfThis = (one: Passed): boolean =>
      isReleasing(one) && one.path === path && one.headers.referer === origin && one.at > heldSince;
    const isTold = new RegExp(`^ {2}${path}: (may still be locked|left alone)`, 'm').test(logs.get(origin ?? '') ?? '');
    const isLost = isStopped || proxy.passed.some((one) => isOfThis(one) && isLostUnnoticed(one));
    return givesNoProof && isTold && isLost;
  }

  /** Runs the post-steps. */
  async function playPosts(player: Player): Promise<void> {
    for (const step of player.steps.toReversed()) {
      const paths = [...player.counted, ...player.broken].map(({ path }) => path);
      const calm = network.isCalm() && short.areKept(player.origin, paths) && !player.ledgerGone;
      const before = conclusionsOfPost(player, step, await stage.locks(), refusedRenewals(player.job));
      const post = await (await player.job.nextPost())?.finished;
      logs.set(player.origin, `${logs.get(player.origin) ?? ''}${post?.log}\n`);
      // A concurrent job that waits may have taken or released a path meanwhile.
      const after = conclusionsOfPost(player, step, await stage.locks(), refusedRenewals(player.job));
      const mayHaveLost = player.broken.length > 0 || player.counted.some(({ renewed }) => renewed);
      const mayFail = step.onLost === 'fail' && mayHaveLost;
      const possible = calm ? [...before, ...after] : ['success', ...(mayFail ? ['failure'] : [])];
      expect(possible, post?.log).toContain(post?.conclusion);
    }
    await expect.poll(() => player.job.leftProcesses(), soon).toEqual([]);
  }

  async function close(player: Player): Promise<void> {
    finished.add(player.origin);
    await player.job.end();
    await players.restart(player);
  }

  function handOn({ id, path, renewed }: Counted, left: readonly Lock[]): void {
    outliving.add(id);
    if (renewed) short.endSoon(left.filter((lock) => lock.id === id));
    else book.others.set(path, { id, who: 'ended job' });
  }

  return {
    /** Ends the job with all of its post-steps. */
    async endJob(player: Player): Promise<void> {
      await short.look();
      await playPosts(player);
      const left = await locksOf(player);
      for (const lock of left) if (isReleaseLost(player, lock)) outliving.add(lock.id);
      for (const lock of player.counted) {
        const isUnlocked = lock.unlockBegun === true && !left.some(({ id }) => id === lock.id);
        if (!lock.autoRelease && !isUnlocked) handOn(lock, left);
      }
      if (player.ledgerGone) {
        // Only the ledger had a record of locks that no step reported.
        const unknown = left.filter(({ id }) => givesNoProof || !player.counted.some((lock) => lock.id === id));
        for (const { id } of unknown) outliving.add(id);
        short.endSoon(unknown);
      }
      await close(player);
    },
    /** Ends the job without any post-step. */
    async loseMachine(player: Player): Promise<void> {
      await short.look();
      await player.job.end();
      const left = await locksOf(player);
      short.endSoon(left);
      for (const lock of player.counted) handOn(lock, left);
      await players.restart(player);
    },
    /** Kills the renewal processes of the job, or of another job if it has none. */
    async killRenewers(wanted: Player): Promise<void> {
      await short.look();
      const player = renewingOr(wanted);
      const pids = player.job.leftProcesses();
      for (const pid of pids) signal(pid, 'SIGKILL');
      // If processes cannot be listed, the locks are still renewed.
      if (pids.length > 0) short.endSoon(await locksOf(player));
    },
    /** Stops such processes until their locks have expired. They must notice that when they continue. */
    async blockRenewers(wanted: Player): Promise<void> {
      await short.look();
      const player = renewingOr(wanted);
      const pids = player.job.leftProcesses();
      if (pids.length === 0) return;
      const renewed = player.counted.filter((lock) => lock.renewed && short.isKept(lock.id));
      for (const pid of pids) signal(pid, 'SIGSTOP');
      short.endSoon(await locksOf(player));
      await short.ended();
      for (const pid of pids) signal(pid, 'SIGCONT');
      await toldInLedger(
        player,
        renewed.map(({ id }) => id),
      );
    },
    async deleteLedger(player: Player): Promise<void> {
      if (!existsSync(ledgerOf(player.job))) return;
      await short.look();
      await rm(ledgerOf(player.job));
      player.ledgerGone = true;
      player.asked.clear();
    },
    /** Adds a line that was cut off, such as by a kill. It may have been about any lock. */
    async damageLedger(player: Player): Promise<void> {
      if (!existsSync(ledgerOf(player.job))) return;
      await appendFile(ledgerOf(player.job), '\n{"kind":"gra\n');
      player.ledgerGone = true;
    },
    /** Returns locks of ended jobs that should not exist. */
    leftBy: (locks: readonly Lock[]) =>
      locks.filter(({ id, origin }) => finished.has(origin ?? '') && !outliving.has(id)),
    logOf: (origin: string | null): string => logs.get(origin ?? '') ?? '',
  };
}
