import { html } from 'hono/html';
import type { Markup } from '../elements/markup.ts';

/** What an action has done, by the word that it puts into the address of the next page. */
const notices = {
  registered: 'The webhook is registered. It signs with the secret that you gave.',
  replaced:
    'This address was registered already. The webhook now has what you just gave: events, branches, format and headers. It is active. Its secret is the old one, unless you gave another.',
  'registered-before': 'The form was sent again, and nothing was done: it was taken the first time.',
  'being-registered': 'The form was sent twice, and the first one is not done yet. Load this page again in a moment.',
  paused: 'The webhook is paused. Events that happen from now on are not put down for it.',
  'paused-already': 'Nothing was changed: the webhook was paused already.',
  'gone-already': 'Nothing was changed: the receiver has ended the webhook with 410, so there is nothing to pause.',
  resumed: 'The webhook is active again. What waited for it is on its way.',
  'resumed-gone':
    'The webhook is active again. If its receiver answers 410 once more, that ends it again. What was dropped can be sent again, one by one.',
  'active-already': 'Nothing was changed: the webhook was active already.',
  removed: 'The webhook is removed, and what waited for it as well.',
  'sent-again': 'It is sent again at once.',
  'sent-after-another': 'It is sent again as soon as an earlier one about the same is over.',
} as const;

export type Notice = keyof typeof notices;

const isNotice = (text: string): text is Notice => Object.hasOwn(notices, text);

export const noticeOf = (text: string): Markup | string =>
  isNotice(text) ? html`<p class="notice" role="status">${notices[text]}</p>` : '';
