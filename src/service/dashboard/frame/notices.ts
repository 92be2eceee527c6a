/** Results of actions, shown by the page that the browser continues with. */
const notices = {
  'signed-out': 'You have signed out.',
  'session-ended': 'Your session has ended, so nothing was changed. Sign in again.',
  'session-revoked': 'The token you signed in with was revoked, so your session has ended.',

  taken: 'The lock is yours.',
  extended: 'The lock was extended.',
  released: 'The lock was released.',
  'released-all': 'The selected locks were released.',
  'released-some': 'The selected locks were released. Some had already ended.',

  revoked: 'The token is revoked and no longer accepted.',
  'already-revoked': 'The token was already revoked.',
} as const;

export type Notice = keyof typeof notices;

export const withNotice = (page: string, notice: Notice): string =>
  `${page}${page.includes('?') ? '&' : '?'}notice=${notice}`;

/** The text for a code in a URL; undefined if there is none. */
export const noticeText = (code: string): string | undefined => texts.get(code);

const texts: ReadonlyMap<string, string> = new Map(Object.entries(notices));
