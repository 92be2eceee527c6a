import { formatDuration } from '../../interface/duration.ts';
import { answerClockMs } from './past-moment.ts';

const hour = 60;

/** The next number of minutes that people would write: strictly later, so that it is longer than the lock. */
function later(minutes: number): number {
  const step = [1, 5, 15, hour].findLast((each) => minutes >= 2 * each) ?? 1;
  return (Math.floor(minutes / step) + 1) * step;
}

const longestSuggestion = 6 * hour;

/** What to set so that the next run waits for the path. Jobs have time limits: nobody waits for days. */
export function waitAdvice(expiresAt: string | undefined, now: number): string {
  const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
  // A lock that was just taken for 2 h has a little more or less by the clock of answers: the advice is the same.
  const minutes = Math.ceil((ms - answerClockMs) / 60_000);
  if (!(ms > 0) || minutes > longestSuggestion) return 'Set `wait` to wait for it.';
  return `Set \`wait: ${formatDuration({ seconds: later(minutes) * 60 })}\` to wait for it.`;
}
