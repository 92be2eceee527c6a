import type { Lock } from '../../../../src/interface/resources.ts';

/** A lock that a step has told of: its job counts on it. */
export interface Counted {
  readonly path: string;
  readonly id: string;
  /** The number of the step in its job. */
  readonly step: number;
  readonly autoRelease: boolean;
}

/** A lock that has ended, and not by the job that had it. */
export interface Broken {
  readonly path: string;
  readonly id: string;
  /** Undefined where no step has told of it: the step was killed before. */
  readonly step: number | undefined;
  /** The job has been told that it had it, has been told nothing else since, and is to release it at its end. */
  readonly certain: boolean;
}

/** What a job of the model has asked for, has, and has had. */
export interface Account {
  readonly origin: string;
  /** Paths that its lock steps have asked for. */
  readonly asked: Set<string>;
  counted: Counted[];
  broken: Broken[];
}

/** Somebody outside of the jobs of the model, or a job that has handed its lock on and ended. */
export type Who = 'stranger' | 'sibling' | 'ended job';

/** All locks on which anybody counts. */
export interface Book {
  readonly accounts: readonly Account[];
  /** By path. */
  readonly others: Map<string, { readonly id: string; readonly who: Who }>;
  isHeld(path: string): boolean;
  /** A lock has ended by its time, or because somebody has released it by its path: those who had it do not know. */
  broke(lock: Lock): void;
}

export function openBook(accounts: readonly Account[]): Book {
  const others = new Map<string, { readonly id: string; readonly who: Who }>();
  return {
    accounts,
    others,
    isHeld: (path) => others.has(path) || accounts.some(({ counted }) => counted.some((lock) => lock.path === path)),
    broke({ path, id, origin }) {
      if (others.get(path)?.id === id) others.delete(path);
      for (const account of accounts) {
        const known = account.counted.find((lock) => lock.id === id);
        if (known === undefined && account.origin !== origin) continue;
        account.counted = account.counted.filter((lock) => lock.id !== id);
        account.broken.push({ path, id, step: known?.step, certain: known?.autoRelease === true });
      }
    },
  };
}

/** What the end of a step may do to its job: a lock that somebody else has by now fails it, unless it is only to warn. */
export function conclusionsOfPost(
  { broken, origin }: Account,
  step: { readonly number: number; readonly onLost: 'fail' | 'warn' },
  standing: readonly Lock[],
): readonly string[] {
  const lost = broken.filter(({ path, id, step: number }) => {
    const there = standing.find((lock) => lock.path === path);
    return (number ?? step.number) === step.number && there !== undefined && there.id !== id;
  });
  if (lost.length === 0 || step.onLost === 'warn') return ['success'];
  const isSure = lost.some(
    ({ certain, path }) => certain && standing.find((lock) => lock.path === path)?.origin !== origin,
  );
  return isSure ? ['failure'] : ['success', 'failure'];
}
