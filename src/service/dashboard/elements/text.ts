import { html } from 'hono/html';
import { safeText } from '../../safe-text.ts';
import type { Markup } from './markup.ts';

/** Text from elsewhere, which neither reorders nor hides what stands around it. */
export const given = (text: string): Markup => html`<bdi>${safeText(text)}</bdi>`;

/** A path, a branch, an id: something that a person may have to compare letter by letter. */
export const literal = (text: string): Markup => html`<code><bdi>${safeText(text)}</bdi></code>`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Like safeText(), but for the ends of lines, for where they are shown as such. */
export const safeLines = (text: string): string => text.split(/\r?\n/).map(safeText).join('\n');
