import type { Lock } from '../../../../src/interface/resources.ts';

/** A lock that a step has told of: its job counts on it. */
export interface Counted {
  readonly path: string;
  readonly id: string;
  /** The number of the step in its job. */
  readonly step: number;
  readonly autoRelease: boolean;
  /** A process of the job renews it. */
  readonly renewed: boolean;
}

/** A lock that has ended, and not by the job that had it. */
export interface Broken {
  readonly path: string;
  readonly id: string;
  /** Undefined where no step has told of it: the step was killed before. */
  readonly step: number | undefined;
  /** The job has been told that it had it, has been told nothing else since, and is to release it at its end. */
  readonly certain: boolean;
  readonly autoRelease: boolean;
  readonly renewed: boolean;
  /** When it was seen that its time was over; undefined where somebody has ended it before. */
  readonly ranOutAt: number | undefined;
  /** The job has named its path in an unlock since, which may have settled it. */
  readonly unlocked: boolean;
}

/** What a job of the model has asked for, has, and has had. */
export interface Account {
  readonly origin: string;
  /** Paths that its lock steps have asked for. */
  readonly asked: Set<string>;
  counted: Counted[];
  broken: Broken[];
  /** Somebody has deleted its records: what it knows from then on is less than the model does. */
  ledgerGone: boolean;
}

/** Somebody outside of the jobs of the model, or a job that has handed its lock on and ended. */
export type Who = 'stranger' | 'sibling' | 'ended job';

/** All locks on which anybody counts. */
export interface Book {
  readonly accounts: readonly Account[];
  /** By path. */
  readonly others: Map<string, { readonly id: string; readonly who: Who }>;
  isHeld(path: string): boolean;
  /** By a job. */
  isCounted(id: string): boolean;
  /** A lock has ended by its time, or because somebody has released it by its path: those who had it do not know. */
  broke(lock: Lock, how?: 'ran-out' | 'ended'): void;
}

export function openBook(accounts: readonly Account[]): Book {
  const others = new Map<string, { readonly id: string; readonly who: Who }>();
  return {
    accounts,
    others,
    isHeld: (path) => others.has(path) || accounts.some(({ counted }) => counted.some((lock) => lock.path === path)),
    isCounted: (id) => accounts.some(({ counted }) => counted.some((lock) => lock.id === id)),
    broke({ path, id, origin }, how = 'ended') {
      if (others.get(path)?.id === id) others.delete(path);
      for (const account of accounts) {
        const known = account.counted.find((lock) => lock.id === id);
        if (known === undefined && account.origin !== origin) continue;
        account.counted = account.counted.filter((lock) => lock.id !== id);
        const { step, autoRelease = false, renewed = false } = known ?? {};
        const ranOutAt = how === 'ran-out' ? Date.now() : undefined;
        account.broken.push({ path, id, step, certain: autoRelease, autoRelease, renewed, ranOutAt, unlocked: false });
      }
    },
  };
}

/** A step of a job, by its number, and what it was told to do about a lost lock. */
export interface PlayedStep {
  readonly number: number;
  readonly onLost: 'fail' | 'warn';
}

/** What the step has lost, or may have: a step that was killed has told of none. */
const lossesOf = ({ broken }: Account, { number }: PlayedStep): readonly Broken[] =>
  broken.filter((lock) => (lock.step ?? number) === number);

/**
 * What the end of a step may do to its job: a lock that somebody else has by now fails it, and one that the service has
 * refused to renew, unless it is only to warn.
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

/** A moment ago may lie ahead for a step whose time is faster than its answers. */
const unsureMs = 1_000;

/** The paths of renewed locks that the step has lost, and of which its end has to tell. */
export const pathsToTell = (account: Account, step: PlayedStep, refused: ReadonlySet<string>): readonly string[] =>
  lossesOf(account, step)
    .filter(({ id, step: number, renewed, autoRelease, ranOutAt, unlocked }) => {
      if (number === undefined || !renewed || unlocked) return false;
      const ranOut = autoRelease && ranOutAt !== undefined && Date.now() - ranOutAt > unsureMs;
      return refused.has(id) || ranOut;
    })
    .map(({ path }) => path);
