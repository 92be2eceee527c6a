import { span } from '../../interface/duration.ts';

/**
 * "12,345". `toLocaleString` gives the same, but loads Node's internationalization data, which takes half as long as Node
 * itself to start.
 */
export const grouped = (number: number): string => String(number).replace(/(?<!\.\d*)\d(?=(?:\d{3})+(?!\d))/g, '$&,');

/** "1 path", "2 paths". */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${grouped(number)} ${number === 1 ? one : many}`;

/** The first few, and how many more there are. */
export function listed(texts: readonly string[], max = 5): string {
  const more = texts.length - max;
  return texts.slice(0, max).join(', ') + (more > 0 ? ` and ${count(more, 'more', 'more')}` : '');
}

/** How long something took: with tenths while these mean something. */
export const duration = (milliseconds: number): string =>
  milliseconds < 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : span(milliseconds / 1_000);

/** "in 12 min", or "3 min ago". */
export function distance(time: number, now: number): string {
  const seconds = (time - now) / 1_000;
  return seconds >= 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}

/** "14:05 UTC", with the date where it is another day. */
export function clockTime(time: number, now: number): string {
  const iso = new Date(time).toISOString();
  const clock = `${iso.slice(11, 16)} UTC`;
  return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? clock : `${iso.slice(0, 10)} ${clock}`;
}

/** "14:05 UTC (in 12 min)". */
export const moment = (time: number, now: number): string => `${clockTime(time, now)} (${distance(time, now)})`;
