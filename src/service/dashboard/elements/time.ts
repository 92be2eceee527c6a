import { html } from 'hono/html';
import type { Timestamp } from '../../../interface/resources.ts';
import { fullTime, isUrgent, relativeTime, timeLeft } from '../assets/time.js';
import type { Markup } from './text.ts';

/** A relative time, with the full time on hover; the page keeps it up to date. */
export const time = (timestamp: Timestamp, now: number): Markup =>
  html`<time datetime="${timestamp}" title="${fullTime(timestamp)}">${relativeTime(Date.parse(timestamp), now)}</time>`;

/** How much time is left; the page counts down. */
export const countdown = (until: Timestamp, now: number): Markup => {
  const left = Date.parse(until) - now;
  return html`<span class="countdown${isUrgent(left) ? ' urgent' : ''}" data-until="${until}" title="${fullTime(until)}">${timeLeft(left)}</span>`;
};

const divide = (whole: number, by: number): readonly [number, number] => [Math.floor(whole / by), whole % by];

/** As precise as people compare: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(milliseconds: number): string {
  const exact = Math.max(0, milliseconds) / 1_000;
  if (exact < 9.95) return `${exact.toFixed(1)} s`;
  const seconds = Math.round(exact);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, restSeconds] = divide(seconds, 60);
  if (minutes < 60) return restSeconds === 0 ? `${minutes} min` : `${minutes} min ${restSeconds} s`;
  const [hours, restMinutes] = divide(minutes, 60);
  return restMinutes === 0 ? `${hours} h` : `${hours} h ${restMinutes} min`;
}
