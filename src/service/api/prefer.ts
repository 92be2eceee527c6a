/** The Prefer header, RFC 7240. Invalid and unknown preferences are ignored (section 2). */

/** Longer values are ignored. */
export const maxPreferLength = 1_000;

/** Preferences are separated by commas, which quoted strings may contain. */
const preferences = /(?<=^|,)(?:[^",]|"(?:[^"\\]|\\.)*")+/g;

const isWait = /^[\t ]*wait[\t ]*(?:[=;]|$)/i;
const waitSeconds = /^[\t ]*wait[\t ]*=[\t ]*(\d+)[\t ]*(?:;|$)/i;

/** The seconds of the preference `wait` (section 4.3). If there are several, the first one counts. */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > maxPreferLength) return undefined;
  const wait = header.match(preferences)?.find((preference) => isWait.test(preference));
  const [, seconds] = waitSeconds.exec(wait ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
