import { formatDuration } from '../../interface/duration.ts';

const minute = 60;
const hour = 60 * minute;

/** The end of the lock and a little more, in a number that people would write. */
function roundedUp(seconds: number): number {
  const steps = [minute, 5 * minute, 15 * minute, hour];
  const step = steps.findLast((each) => seconds > 2 * each) ?? minute;
  return Math.ceil((seconds + 1) / step) * step;
}

const longestSuggestion = 6 * hour;

/** What to set so that the next run waits for the path. Jobs have time limits: nobody waits for days. */
export function waitAdvice(expiresAt: string | undefined, now: number): string {
  const seconds = expiresAt === undefined ? Number.NaN : (Date.parse(expiresAt) - now) / 1_000;
  if (!(seconds > 0) || seconds > longestSuggestion) return 'Set `wait` to wait for it.';
  return `Set \`wait: ${formatDuration({ seconds: roundedUp(seconds) })}\` to wait for it.`;
}
