import { html } from 'hono/html';
import { type Markup, userText } from '../elements/text.ts';

/** Results of actions, shown by the page that the browser continues with: its title is the path of a lock. */
const notices = {
  'signed-out': () => 'You have signed out.',
  'session-ended': () => 'Your session has ended, so nothing was changed. Sign in again.',
  'session-revoked': () => 'The token you signed in with was revoked, so your session has ended.',

  taken: (path: string) => html`You hold the lock on ${userText(path)}.`,
  extended: (path: string) => html`The lock on ${userText(path)} was extended.`,
  released: (path: string) => html`The lock on ${userText(path)} was released.`,
  'released-all': () => 'The selected locks were released.',
  'released-some': () => 'The selected locks were released. Some had already ended.',

  revoked: () => 'The token is revoked and no longer accepted.',
  'already-revoked': () => 'The token was already revoked.',
} as const;

export type Notice = keyof typeof notices;

export const withNotice = (page: string, notice: Notice): string =>
  `${page}${page.includes('?') ? '&' : '?'}notice=${notice}`;

/** The text for a code in a URL; undefined if there is none. */
export const noticeText = (code: string, title: string): Markup | string | undefined => texts.get(code)?.(title);

const texts: ReadonlyMap<string, (title: string) => Markup | string> = new Map(Object.entries(notices));
