/** RFC 7240: what a request prefers. What cannot be read, or is not known, is as if it had not been said (section 2). */

/** A longer one is not worth the time of reading it. */
export const maxPreferLength = 1_000;

/** Between commas, which a quoted string may have as well. */
const preferences = /(?<=^|,)(?:[^",]|"(?:[^"\\]|\\.)*")+/g;

const isWait = /^[\t ]*wait[\t ]*(?:[=;]|$)/i;
const waitSeconds = /^[\t ]*wait[\t ]*=[\t ]*(\d+)[\t ]*(?:;|$)/i;

/** The seconds of the preference `wait` (section 4.3). Of several with one name the first counts. */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > maxPreferLength) return undefined;
  const wait = header.match(preferences)?.find((preference) => isWait.test(preference));
  const [, seconds] = waitSeconds.exec(wait ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
