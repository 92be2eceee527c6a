import { defaultUrgency, type Urgency } from '../locks/waits.ts';

/** The Prefer header, RFC 7240. Invalid and unknown preferences are ignored (section 2). */

/** Longer values are ignored. */
export const maxPreferLength = 1_000;

/** Preferences are separated by commas, which quoted strings may contain. */
const preferences = /(?<=^|,)(?:[^",]|"(?:[^"\\]|\\.)*")+/g;

const isWait = /^[\t ]*wait[\t ]*(?:[=;]|$)/i;
const waitSeconds = /^[\t ]*wait[\t ]*=[\t ]*(\d+)[\t ]*(?:;|$)/i;

/** The preference `wait` (section 4.3), up to a maximum. If there are several, the first one counts. */
export function preferredWait(header: string | undefined, maxSeconds: number): number | undefined {
  if (header === undefined || header.length > maxPreferLength) return undefined;
  const wait = header.match(preferences)?.find((preference) => isWait.test(preference));
  const [, seconds] = waitSeconds.exec(wait ?? '') ?? [];
  if (seconds === undefined) return undefined;
  return Math.min(Number(seconds), maxSeconds);
}

export const maxPriorityLength = 200;

/** The urgency in the Priority header, a structured dictionary (RFC 9218 section 4.1); others are ignored. */
export function urgencyOf(header: string | undefined): Urgency {
  if (header === undefined || header.length > maxPriorityLength) return defaultUrgency;
  const [, urgency] = /^(?:[^"]*,)?[\t ]*u=([1-5])[\t ]*(?:[,;]|$)/.exec(header) ?? [];
  return urgencies.find((each) => String(each) === urgency) ?? defaultUrgency;
}

const urgencies = [1, 2, 3, 4, 5] as const;
