import { html } from 'hono/html';
import type { Timestamp } from '../../../interface/resources.ts';
import type { Markup } from '../elements/markup.ts';
import { fullTime } from '../elements/time.ts';

/** Whoever waits for a lock with less left than this need not ask for it. */
const urgentMs = 5 * 60_000;

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** How much is left, in two units, so that it is seen to pass. `../assets/countdown.js` goes on with it. */
export function timeLeft(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  if (seconds <= 0) return 'over';
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${twoDigits(hours)} h`;
  if (hours > 0) return `${hours} h ${twoDigits(minutes)} min`;
  return minutes > 0 ? `${minutes} min ${twoDigits(seconds % 60)} s` : `${seconds} s`;
}

export const countdown = (until: Timestamp, now: number): Markup => {
  const left = Date.parse(until) - now;
  return html`<span class="countdown${left < urgentMs ? ' urgent' : ''}" data-until="${until}" title="${fullTime(until)}">${timeLeft(left)}</span>`;
};
