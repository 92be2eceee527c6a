/**
 * RFC 9110 section 10.2.3: the milliseconds to wait, from seconds or a date, which is compared with the sender's clock.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
  // Date.parse accepts many other texts as dates. In all three formats of HTTP, a date starts with the name of a day.
  const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
