import { type OutputBlock, textTable } from '../command/print.ts';
import { formatRelativeTime, timeCell } from '../interface/format.ts';
import type { Lock } from '../interface/resources.ts';

/** Displayed fields of a lock. Other implementations of the service may omit some. */
type LockFields = Pick<Lock, 'path'> & {
  readonly [Name in 'owner' | 'origin' | 'note' | 'acquired_at' | 'expires_at']?: Lock[Name] | null | undefined;
};

export const lockTableText = (locks: readonly LockFields[], now: number, ifEmpty: string): readonly OutputBlock[] =>
  textTable(
    locks,
    {
      PATH: ({ path }) => path,
      OWNER: ({ owner }) => owner,
      SINCE: ({ acquired_at }) => timeCell(acquired_at),
      EXPIRES: ({ expires_at }) =>
        expires_at && `${formatRelativeTime(Date.parse(expires_at), now)} (${timeCell(expires_at)})`,
      ORIGIN: ({ origin }) => origin,
      NOTE: ({ note }) => note,
    },
    ifEmpty,
  );

interface Waiting extends Pick<LockFields, 'path' | 'owner' | 'origin' | 'note'> {
  readonly position?: number | undefined;
  readonly since?: string | undefined;
}

export const waitingTableText = (waiting: readonly Waiting[], ifEmpty: string): readonly OutputBlock[] =>
  textTable(
    waiting,
    {
      PATH: ({ path }) => path,
      PLACE: ({ position }) => position?.toString(),
      WHO: ({ owner }) => owner,
      SINCE: ({ since }) => timeCell(since),
      RUN: ({ origin }) => origin,
      NOTE: ({ note }) => note,
    },
    ifEmpty,
  );

/** Holder, run, start and end of a lock. A lock of a Git LFS user has no run. */
export function holderText({ owner, acquired_at, expires_at, origin, note }: LockFields): string {
  const run = origin ? `, from the run ${origin},` : '';
  const since = acquired_at ? ` since ${timeCell(acquired_at)}` : '';
  const until = expires_at ? ` until ${timeCell(expires_at)}` : '';
  return `${owner ?? 'someone'}${run}${since}${until}${note ? `, with the note "${note}"` : ''}`;
}
