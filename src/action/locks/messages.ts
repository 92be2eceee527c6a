import type { KnownLock } from '../../client/client.ts';
import { responseClockMs } from '../../client/clock.ts';
import { type Duration, formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Intent, Loss } from '../ledger/entry.ts';
import type { Table } from '../report/table.ts';
import { formatNumber, formatTime, joinFirst, runName, timeCell } from '../report/words.ts';
import type { AlreadyHeld, OwnLock } from './ownership.ts';
import type { Conflict } from './session.ts';

/** The table of locks in a summary. It has a column for notes only if there are any. */
export function holderTable(
  locks: readonly { readonly path: string; readonly holder: KnownLock | undefined }[],
): Pick<Table, 'head' | 'rows'> {
  const hasNotes = locks.some(({ holder }) => holder?.note !== undefined);
  return {
    head: ['Path', 'Holder', 'Until', 'Taken by', ...(hasNotes ? ['Note'] : [])],
    rows: locks.map(({ path, holder }) => [
      path,
      holder?.owner ?? '',
      timeCell(holder?.expires_at),
      { run: holder?.origin ?? '' },
      ...(hasNotes ? [holder?.note ?? ''] : []),
    ]),
  };
}

interface LostLock {
  readonly path: string;
  /** The lock as it was while the job held it. */
  readonly lock: OwnLock;
  /** Undefined if nobody holds the path. */
  readonly holder: KnownLock | undefined;
}

/** Describes a lost lock of this job: when it was lost, if known, and who holds the path now. */
export function lostText({ path, lock, holder }: LostLock, now: number): string {
  const end = Date.parse(lock.expires_at ?? '');
  const isOver = end <= now + responseClockMs || end <= Date.parse(holder?.acquired_at ?? '');
  const parts = [`This job lost its lock on ${path}.`];
  if (isOver) parts.push(`It expired at ${pastMoment(end, now)}; a longer \`ttl\` would have prevented that.`);
  else if (!Number.isNaN(end)) parts.push('Someone released it before it expired.');
  parts.push(holder === undefined ? 'Nobody holds the path now.' : `${heldText(path, holder, now, true)}.`);
  return parts.join(' ');
}

/** Describes a lock whose renewal was refused. `found` is undefined if the current holder is unknown. */
export function lostRenewalText(
  { path, at, holder: next }: Loss,
  found: KnownLock | 'nobody' | undefined,
  now: number,
): string {
  const lost = `The lock on ${path} was lost at ${pastMoment(Date.parse(at), now)}, when the service refused to renew it.`;
  if (found === 'nobody') return `${lost} Nobody holds ${path} now.`;
  if (found !== undefined) return `${lost} ${heldText(path, found, now, true)}.`;
  return next?.owner === undefined ? lost : `${lost} It was then held by ${next.owner}.`;
}

/** The reason why a step cannot acquire its locks: too few of its paths are free. */
export interface Blocked {
  /** No more than necessary: as soon as one of these paths is free, there may be enough. */
  readonly conflicts: readonly [Conflict, ...Conflict[]];
  /** The number of paths that the step needs, and the number of its paths. */
  readonly count: number;
  readonly of: number;
}

const maxNamed = 3;

/** The holder of the path. For any N of several paths, the number of free ones and the holders of the others. */
export function blockedText({ conflicts, count, of }: Blocked, now?: number, withStart = false): string {
  const [one, ...more] = conflicts.map(({ path, holder }) => heldText(path, holder, now, withStart));
  if (one !== undefined && more.length === 0) return one;
  // An upper limit: paths that were not requested may be held as well.
  const free = of - conflicts.length;
  const tooFew =
    free === 0
      ? `None of the ${formatNumber(of)} paths is free`
      : `At most ${formatNumber(free)} of the ${formatNumber(of)} paths can be free, and \`any\` asks for ${formatNumber(count)}`;
  const named = [one, ...more].slice(0, maxNamed).join('; ');
  const others = conflicts.length - maxNamed;
  return `${tooFew}: ${named}${others > 0 ? `; and ${formatNumber(others)} more` : ''}`;
}

/** Describes a lock that an unanswered request may have left, and when it expires. */
export const unansweredText = ({ path, ttl, at }: Intent): string =>
  `This step may have locked ${path}: its request at ${at} was not answered, and the service still cannot say. If it did, the lock expires ${ttl} after it was taken.`;

/** Suggests a `wait`, or a longer one, so that the next run gets the locks. */
export function blockedAdvice({ conflicts }: Blocked, waited: Duration | undefined, now: number): string {
  const what = conflicts.length === 1 ? 'it' : 'one of them';
  if (waited !== undefined) return `Waited ${formatDuration(waited)} for ${what}. Increase \`wait\` to wait longer.`;
  const ends = conflicts.flatMap(({ holder }) => holder?.expires_at ?? []);
  const [soonest] = ends.toSorted((one, other) => Date.parse(one) - Date.parse(other));
  return waitAdvice(soonest, now, what);
}

/** The steps that hold the locks, until when, and what to do instead of waiting. */
export function alreadyHeldText(
  own: readonly AlreadyHeld[],
  asked: { readonly paths: readonly LockPath[]; readonly count: number; readonly ttl: Ttl },
  now: number,
  forSummary = false,
): string {
  const steps = [...new Set(own.map(({ stepName }) => stepText(stepName)))].join(' and ');
  const soonest = own.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Number.POSITIVE_INFINITY);
  const until = Number.isNaN(soonest) ? '' : `, until ${formatTime(soonest, forSummary ? undefined : now)}`;
  const paths = joinFirst(
    own.map(({ path }) => path),
    maxNamed,
  );
  const who = `This job already holds ${paths}: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
  const release = 'release locks that are no longer needed with `operation: unlock`';
  if (asked.count < asked.paths.length) {
    const left = asked.paths.length - own.length;
    return `${who} That leaves ${left} of the ${asked.count} paths that \`any\` asks for: name more paths, or ${release} before this step.`;
  }
  if (own.length < asked.paths.length) {
    return `${who} Name only the other paths in this step, or ${release} before this step.`;
  }
  // Half of the ttl: a part of it has always passed when a later step asks.
  return soonest - now >= (asked.ttl.seconds * 1_000) / 2
    ? `${who} Those are all paths of this step, for at least half of its \`ttl\` of ${formatDuration(asked.ttl)}: leave this step out, or ${release} before it.`
    : `${who} Those are all paths of this step: leave it out and increase the \`ttl\` of the earlier step, or ${release} before it.`;
}

/**
 * "Content/Hero.uasset is held by ada until 14:05 UTC (in 12 min), taken by https://…/runs/1, since 13:05 UTC (48 min
 * ago), with the note "new armor"". Without `now`, as in a summary, times are absolute and the run is shown by name.
 */
export function heldText(path: string, holder: KnownLock | undefined, now?: number, withStart = false): string {
  const parts = [`${path} is held`];
  if (holder?.owner !== undefined) parts.push(` by ${holder.owner}`);
  if (holder?.expires_at !== undefined) parts.push(` until ${formatTime(Date.parse(holder.expires_at), now)}`);
  if (holder?.origin !== undefined) {
    const name = now === undefined ? runName(holder.origin) : undefined;
    parts.push(`, taken by ${name ?? holder.origin}`);
  }
  if (withStart && holder?.acquired_at !== undefined)
    parts.push(`, since ${pastMoment(Date.parse(holder.acquired_at), now)}`);
  if (holder?.note !== undefined) parts.push(`, with the note "${holder.note}"`);
  return parts.join('');
}

/** Formats a time in the past: "14:05 UTC (3 min ago)". */
export const pastMoment = (time: number, now?: number): string =>
  formatTime(time, now === undefined ? now : Math.max(now, time + 1));

const hourInMinutes = 60;
const maxSuggestion = 6 * hourInMinutes;

/** Suggests a `wait` for the next run. It never suggests days, because jobs have time limits. */
export function waitAdvice(expiresAt: string | undefined, now: number, what = 'it'): string {
  const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
  // Clocks are imprecise: a lock just acquired for 2 h may have slightly more or less left, and the advice stays the
  // same.
  const minutes = Math.ceil((ms - responseClockMs) / 60_000);
  if (!(ms > 0) || minutes > maxSuggestion) return `Set \`wait\` to wait for ${what}.`;
  return `Set \`wait: ${formatDuration({ seconds: later(minutes) * 60 })}\` to wait for ${what}.`;
}

/** The runner generates a name for a step without an id. Such names start with two underscores. */
export function stepText(name: string | undefined): string {
  if (name === undefined) return 'an earlier step';
  return name.startsWith('__') ? `an earlier step without an \`id\` (${name})` : `the step \`${name}\``;
}

/** The next round number of minutes, strictly larger, so that the wait is longer than the lock. */
function later(minutes: number): number {
  const step = [1, 5, 15, hourInMinutes].findLast((each) => minutes >= 2 * each) ?? 1;
  return (Math.floor(minutes / step) + 1) * step;
}
