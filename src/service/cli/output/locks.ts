import type { Lock } from '../../../interface/resources.ts';
import { shownTime, shownUntil } from './print.ts';
import { type OutputBlock, textTable } from './table.ts';

/** Displayed fields of a lock. Other implementations of the service may omit some. */
export type ShownLock = Pick<Lock, 'path'> & {
  readonly [Name in 'owner' | 'origin' | 'note' | 'acquired_at' | 'expires_at']?: Lock[Name] | null | undefined;
};

export const lockTableText = (locks: readonly ShownLock[], now: number, otherwise: string): readonly OutputBlock[] =>
  textTable(
    ['PATH', 'OWNER', 'SINCE', 'EXPIRES', 'ORIGIN', 'NOTE'],
    locks.map(({ path, owner, acquired_at, expires_at, origin, note }) => [
      path,
      owner ?? '',
      acquired_at ? shownTime(acquired_at) : '',
      expires_at ? `${shownUntil(expires_at, now)} (${shownTime(expires_at)})` : '',
      origin ?? '',
      note ?? '',
    ]),
    otherwise,
  );

type Waiting = Pick<ShownLock, 'path' | 'owner' | 'origin' | 'note'> & {
  readonly position?: number | undefined;
  readonly since?: Lock['acquired_at'] | undefined;
};

export const waitingTableText = (waiting: readonly Waiting[]): readonly OutputBlock[] =>
  textTable(
    ['PATH', 'PLACE', 'WHO', 'SINCE', 'RUN', 'NOTE'],
    waiting.map(({ path, position, owner, since, origin, note }) => [
      path,
      String(position ?? ''),
      owner ?? '',
      since ? shownTime(since) : '',
      origin ?? '',
      note ?? '',
    ]),
    'Nobody waits for such a lock.',
  );

/** Holder, run, start and end of a lock. A lock of a Git LFS user has no run. */
export function holderText({ owner, acquired_at, expires_at, origin, note }: ShownLock): string {
  const run = origin ? `, from the run ${origin},` : '';
  const since = acquired_at ? ` since ${shownTime(acquired_at)}` : '';
  const until = expires_at ? ` until ${shownTime(expires_at)}` : '';
  return `${owner ?? 'someone'}${run}${since}${until}${note ? `, with the note "${note}"` : ''}`;
}
