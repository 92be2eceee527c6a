const longestHonoured = 24 * 60 * 60;

/** The one form of HTTP dates that is still sent (RFC 9110, section 5.6.7). */
const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The seconds that `Retry-After` (RFC 9110, section 10.2.3) asks for. No receiver puts the next attempt off by more than
 * a day, the longest delay of the schedule itself.
 */
export function retryAfterSeconds(field: string | undefined, now: Date): number | undefined {
  if (field === undefined) return undefined;
  const text = field.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), longestHonoured);
  if (!imfFixdate.test(text)) return undefined;
  const seconds = Math.ceil((Date.parse(text) - now.getTime()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), longestHonoured);
}
