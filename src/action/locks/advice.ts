import { responseClockMs } from '../../client/client.ts';
import { type Duration, formatDuration } from '../../interface/duration.ts';
import { formatTime, joinFirst } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Blocked } from '../../locks/messages.ts';
import type { AlreadyHeld } from '../../locks/ownership.ts';

/** Suggests a `wait`, or a longer one, so that the next run gets the locks. */
export function blockedAdvice({ conflicts }: Blocked, waited: Duration | undefined, now: number): string {
  const object = conflicts.length === 1 ? 'it' : 'one of them';
  if (waited !== undefined) return `Waited ${formatDuration(waited)} for ${object}. Increase \`wait\` to wait longer.`;
  const expiries = conflicts.flatMap(({ holder }) => holder?.expires_at ?? []);
  const [soonest] = expiries.toSorted((one, other) => Date.parse(one) - Date.parse(other));
  return waitAdvice(soonest, now, object);
}

const maxNamed = 3;

/** The steps that hold the locks, until when, and what to do instead of waiting. */
export function alreadyHeldText(
  own: readonly AlreadyHeld[],
  goal: { readonly paths: readonly LockPath[]; readonly count: number; readonly ttl: Ttl },
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
  const alreadyHeld = `This job already holds ${paths}: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
  const release = 'release locks that are no longer needed with `operation: unlock`';
  if (goal.count < goal.paths.length) {
    const remaining = goal.paths.length - own.length;
    return `${alreadyHeld} That leaves ${remaining} of the ${goal.count} paths that \`any\` asks for: name more paths, or ${release} before this step.`;
  }
  if (own.length < goal.paths.length) {
    return `${alreadyHeld} Name only the other paths in this step, or ${release} before this step.`;
  }
  // Half of the ttl: a part of it has always passed when a later step asks.
  return soonest - now >= (goal.ttl.seconds * 1_000) / 2
    ? `${alreadyHeld} Those are all paths of this step, for at least half of its \`ttl\` of ${formatDuration(goal.ttl)}: leave this step out, or ${release} before it.`
    : `${alreadyHeld} Those are all paths of this step: leave it out and increase the \`ttl\` of the earlier step, or ${release} before it.`;
}

const hourInMinutes = 60;
const maxSuggestion = 6 * hourInMinutes;

/** Suggests a `wait` for the next run. It never suggests days, because jobs have time limits. */
export function waitAdvice(expiresAt: string | undefined, now: number, object = 'it'): string {
  const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
  // Clocks are imprecise: a lock just acquired for 2 h may have slightly more or less left, and the advice stays the
  // same.
  const minutes = Math.ceil((ms - responseClockMs) / 60_000);
  if (!(ms > 0) || minutes > maxSuggestion) return `Set \`wait\` to wait for ${object}.`;
  return `Set \`wait: ${formatDuration({ seconds: later(minutes) * 60 })}\` to wait for ${object}.`;
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
