import { formatSpan } from './duration.ts';

/** Joins the first few texts, and adds the number of the others. */
export function joinFirst(texts: readonly string[], max = 5): string {
  const more = texts.length - max;
  return texts.slice(0, max).join(', ') + (more > 0 ? ` and ${formatNumber(more)} more` : '');
}

/** A duration; a short one with tenths of a second. */
export const formatElapsed = (milliseconds: number): string =>
  milliseconds < 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : formatSpan(milliseconds / 1_000);

/** "14:05 UTC (in 12 min)". */
export const formatTime = (time: number, now: number): string =>
  `${clockTime(time, now)} (${formatRelativeTime(time, now)})`;

/** "2026-03-01 14:05 UTC"; empty if unknown. */
export function timeCell(time: string | null | undefined): string {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? '' : clockTime(ms);
}

/** Run URLs of GitHub, and of GitLab, whose projects may be in nested groups. */
const runUrl =
  /^https?:\/\/[\w.-]+(?::\d+)?\/([\w.-]+(?:\/[\w.-]+)+)\/(?:actions\/runs|-\/pipelines)\/(\d+)(?:\/attempts\/(\d+))?$/;

/** "octo-games/dragon #1040" for the URL of that run; undefined for other texts. */
export function runName(url: string): string | undefined {
  const [, repository, run, attempt = '1'] = runUrl.exec(url) ?? [];
  if (repository === undefined || run === undefined) return undefined;
  return `${repository} #${run}${attempt === '1' ? '' : `, attempt ${attempt}`}`;
}

/** "1 path", "2 paths". */
export const pluralize = (number: number, one: string, many = `${one}s`): string =>
  `${formatNumber(number)} ${number === 1 ? one : many}`;

/**
 * "12,345". `toLocaleString` returns the same, but loads Node's internationalization data, which takes half as long as
 * starting Node itself.
 */
export const formatNumber = (number: number): string =>
  String(number).replace(/(?<!\.\d*)\d(?=(?:\d{3})+(?!\d))/g, '$&,');

/** "in 12 min", or "3 min ago". */
export function formatRelativeTime(time: number, now: number): string {
  const seconds = (time - now) / 1_000;
  return seconds >= 0 ? `in ${formatSpan(seconds)}` : `${formatSpan(-seconds)} ago`;
}

/**
 * "14:05 UTC", with the date if it is not today. Without `now`, always with the date, for texts that are read later,
 * such as a job summary: "2026-03-01 14:05 UTC".
 */
export function clockTime(time: number, now?: number): string {
  const iso = new Date(time).toISOString();
  const clock = `${iso.slice(11, 16)} UTC`;
  const isToday = now !== undefined && iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return isToday ? clock : `${iso.slice(0, 10)} ${clock}`;
}

export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
