import { html } from 'hono/html';
import type { Timestamp } from '../../../interface/resources.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { fullTime, isUrgent, relativeTime, timeLeft } from '../assets/time.js';

/** HTML with all inserted values escaped. Only the tag `html` creates it. */
export type Markup = ReturnType<typeof html>;

/** Text from a user, isolated so that it cannot reorder or hide the surrounding text. */
export const userText = (text: string): Markup => html`<bdi>${safeText(text)}</bdi>`;

export const literals = (texts: readonly string[]): Markup => commaSeparated(texts.map(literal));

export const commaSeparated = (items: readonly Markup[]): Markup =>
  html`${items.map((item, index) => html`${index === 0 ? '' : ', '}${item}`)}`;

/** For a missing value: `none`, `not yet`. */
export const faint = (text: string): Markup => html`<span class="faint">${text}</span>`;

/** Text to copy, with a button that page.js shows if copying works. */
export const copyable = (id: string, what: string, text: Markup): Markup =>
  html`<div class="row">${text}<button type="button" data-copies="${id}" hidden>Copy<span class="visually-hidden"> ${what}</span></button></div>`;

export const empty = (what: string, next: Markup | string): Markup =>
  html`<div class="empty"><p><strong>${what}</strong></p><p>${next}</p></div>`;

/** An exact time in UTC. The page converts it to the reader's time zone. */
export const pointInTime = (timestamp: Timestamp): Markup =>
  html`<time datetime="${timestamp}" data-point>${fullTime(timestamp)}</time>`;

/** The time of the page. Where scripts run, the page is loaded again and again, and shows whether that works. */
export const liveState = (now: number, more: Markup | string = ''): Markup =>
  html`<p class="live">${more} <span class="faint" id="live" role="status">As of ${pointInTime(asTimestamp(now))}. <a href="">Refresh</a></span></p>`;

/** For pages with something that the viewer should know, also in another window. */
export const notifyButton = html`<button type="button" class="quiet" data-notifies hidden>Notify me</button>`;

/** A relative time, with the full time on hover. The page keeps it up to date. */
export const time = (timestamp: Timestamp, now: number): Markup =>
  html`<time datetime="${timestamp}" title="${fullTime(timestamp)}">${relativeTime(Date.parse(timestamp), now)}</time>`;

/** The remaining time. The page counts down. */
export const countdown = (until: Timestamp, now: number): Markup => {
  const left = Date.parse(until) - now;
  return html`<time datetime="${until}" title="${fullTime(until)}" data-left${isUrgent(left) ? html` class="urgent"` : ''}>${timeLeft(left)}</time>`;
};

/** A path, branch or id, in a monospaced font for exact comparison. */
export const literal = (text: string): Markup => html`<code><bdi>${safeText(text)}</bdi></code>`;

/** Like safeText(), but keeps line ends. */
export const safeLines = (text: string): string => text.split(/\r?\n/).map(safeText).join('\n');
