import type { Lock } from '../../../../src/service/contract/schemas.ts';

/** A lock that a step has reported, so that its job relies on it. */
export interface Counted {
  readonly path: string;
  readonly id: string;
  /** The number of the step in its job. */
  readonly step: number;
  readonly autoRelease: boolean;
  /** Whether a process of the job renews it. */
  readonly renewed: boolean;
  /** Whether an unlock has begun to release it: the end of the job may complete that, even if it is not to. */
  readonly unlockBegun?: boolean;
}

/** A lock that ended, but was not released by its job. */
export interface Broken {
  readonly path: string;
  readonly id: string;
  /** Undefined if no step reported the lock, because the step was killed. */
  readonly step: number | undefined;
  /** Whether the job was granted the lock, has no other information about it, and must release it at its end. */
  readonly certain: boolean;
  readonly renewed: boolean;
  /** Whether the job has since unlocked its path, which may have settled it. */
  readonly unlocked: boolean;
}

/** Locks that a job of the model requested, holds and lost. */
export interface Account {
  readonly origin: string;
  /** Paths that its lock steps requested. */
  readonly asked: Set<string>;
  counted: Counted[];
  broken: Broken[];
  /** Whether its ledger was deleted or damaged, so that the job has less information than the model. */
  ledgerGone: boolean;
}

/** A client outside of the model, or a job that handed its lock over and ended. */
export type Who = 'stranger' | 'sibling' | 'ended job';

export type Book = ReturnType<typeof openBook>;

/** All locks that a job or client relies on. */
export function openBook(accounts: readonly Account[]) {
  const others = new Map<string, { readonly id: string; readonly who: Who }>();
  return {
    accounts,
    /** Locks of others, by path. */
    others,
    isHeld: (path: string) =>
      others.has(path) || accounts.some(({ counted }) => counted.some((lock) => lock.path === path)),
    /** Whether a job relies on the lock. */
    isCounted: (id: string) => accounts.some(({ counted }) => counted.some((lock) => lock.id === id)),
    /** Records that a lock expired, or was released by its path, without the knowledge of its holder. */
    broke({ path, id, origin }: Lock): void {
      if (others.get(path)?.id === id) others.delete(path);
      for (const account of accounts) {
        const known = account.counted.find((lock) => lock.id === id);
        if (known === undefined && account.origin !== origin) continue;
        account.counted = account.counted.filter((lock) => lock.id !== id);
        const { step, autoRelease = false, renewed = false, unlockBegun = false } = known ?? {};
        const certain = autoRelease && !unlockBegun;
        account.broken.push({ path, id, step, certain, renewed, unlocked: unlockBegun });
      }
    },
  };
}

/** A step of a job, by number, and its input `on-lost`. */
export interface PlayedStep {
  readonly number: number;
  readonly onLost: 'fail' | 'warn';
}

/** Locks that the step has lost or may have lost: a step that was killed reported none. */
const lossesOf = ({ broken }: Account, { number }: PlayedStep): readonly Broken[] =>
  broken.filter((lock) => (lock.step ?? number) === number);

/**
 * Possible conclusions of a post-step: it fails for a lock that someone else holds now, and for a lock that the service
 * refused to renew, unless it must only warn.
 */
export function conclusionsOfPost(
  account: Account,
  step: PlayedStep,
  standing: readonly Lock[],
  refused: ReadonlySet<string>,
): readonly string[] {
  if (step.onLost === 'warn') return ['success'];
  const losses = lossesOf(account, step);
  const holderOf = ({ path, id }: Broken): Lock | undefined =>
    standing.find((lock) => lock.path === path && lock.id !== id);
  const isSure = (lock: Broken): boolean => {
    const holder = holderOf(lock);
    const isTaken = holder !== undefined && holder.origin !== account.origin;
    return (lock.certain && isTaken) || (lock.step !== undefined && refused.has(lock.id) && !lock.unlocked);
  };
  if (losses.some(isSure)) return ['failure'];
  const mayFail = losses.some((lock) => holderOf(lock) !== undefined || lock.renewed || refused.has(lock.id));
  return mayFail ? ['success', 'failure'] : ['success'];
}
