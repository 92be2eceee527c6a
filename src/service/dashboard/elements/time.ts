import { html } from 'hono/html';
import type { Timestamp } from '../../../interface/resources.ts';
import type { Markup } from './markup.ts';

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** In the largest unit of which there are two, as people say it. `assets/times.js` does the same as time passes. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.round(seconds / length)} ${unit}`;
}

/** To the second, in UTC: `2026-03-01 14:05:09 UTC`. */
export const fullTime = (time: Timestamp): string => `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;

export function relativeTime(at: number, now: number): string {
  if (Math.abs(at - now) < 2_000) return 'now';
  return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}

/** How far away a time is, with the full time on hover; the page keeps it up to date. */
export const time = (timestamp: Timestamp, now: number): Markup =>
  html`<time datetime="${timestamp}" title="${fullTime(timestamp)}">${relativeTime(Date.parse(timestamp), now)}</time>`;
