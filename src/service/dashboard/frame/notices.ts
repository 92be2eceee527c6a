/** Results of actions, shown by the page that the browser continues with. */
const notices = {
  'signed-out': 'You have signed out.',
  'session-ended': 'Your session has ended, so nothing was changed. Sign in again.',
  'session-revoked': 'The token you signed in with was revoked, so your session has ended.',

  taken: 'The lock is yours.',
  'sent-twice': 'The form was sent twice. The second time changed nothing.',
  extended: 'The lock was extended.',
  released: 'The lock was released.',
  'released-all': 'The selected locks were released.',
  'released-some': 'The selected locks were released. Some had already ended.',

  registered: 'The webhook is registered. It signs with the secret you gave.',
  replaced:
    'This URL was already registered. The webhook now has the events, branches, format and headers you just gave, and is active. It keeps its secret unless you gave a new one.',
  'being-registered': 'The form was sent twice and the first is still being processed. Reload this page in a moment.',
  edited: 'Webhook updated. Queued deliveries use the new settings.',
  'test-sent': 'Test queued: see the newest delivery below. Refresh for the response.',
  'test-inactive': 'No test was sent: resume the webhook first.',
  paused: 'The webhook is paused. Events from now on are not queued for it.',
  'paused-already': 'Nothing was changed: the webhook was already paused.',
  'gone-already': 'Nothing was changed: the receiver ended the webhook with 410, so there is nothing to pause.',
  resumed: 'The webhook is active again. Waiting deliveries are being sent.',
  'resumed-gone':
    'The webhook is active again. Another 410 from its receiver ends it again. Dropped deliveries can be sent again, one by one.',
  'active-already': 'Nothing was changed: the webhook was already active.',
  'hook-removed': 'The webhook and its waiting deliveries are removed.',
  'sent-again': 'It is being sent again.',
  'sent-after-another': 'It will be sent again after an earlier delivery about the same subject.',

  revoked: 'The token is revoked and no longer accepted.',
  'already-revoked': 'The token was already revoked.',
  'rule-removed': 'Rule removed. Its jobs can get no more tokens, and their current tokens are revoked.',
  'workspace-saved': 'The workspace was changed.',
  'workspace-removed': 'The workspace was removed.',
} as const;

export type Notice = keyof typeof notices;

export const withNotice = (page: string, notice: Notice): string =>
  `${page}${page.includes('?') ? '&' : '?'}notice=${notice}`;

/** The text for a code in a URL; undefined if there is none. */
export const noticeText = (code: string): string | undefined => texts.get(code);

const texts: ReadonlyMap<string, string> = new Map(Object.entries(notices));
