import type { HookFormat, Timestamp } from '../../interface/resources.ts';
import type { Lock } from '../contract/schemas.ts';
import type { HookEventOccurrence } from '../outbox/event.ts';
import type { HookRow } from '../outbox/outbox.ts';
import { headersOf, secretOf } from './hooks.ts';
import { signedHeaders } from './signature.ts';

export interface DeliveryRequest {
  readonly workspace: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The request for an event, based on the current registration of the hook. Headers of the hook replace those of its
 * format (`user-agent`), but never the signature.
 */
export function deliveryRequest(hook: HookRow, occurrence: HookEventOccurrence, timestamp: Date): DeliveryRequest {
  const { headers, body } = contentOf(hook.format, occurrence);
  const signature = signedHeaders({ id: occurrence.id, timestamp, body, secret: secretOf(hook) });
  return {
    workspace: hook.workspace_id,
    url: hook.url,
    headers: { ...headers, ...headersOf(hook), ...signature },
    body,
  };
}

/**
 * The URL without its query, which many receivers use as a secret. For chats, also without the path, which is theirs.
 */
export function redactedUrl(hook: Pick<HookRow, 'url' | 'format'>): string {
  const { origin, pathname, search } = new URL(hook.url);
  if (isChatFormat(hook.format)) return `${origin}/…`;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Body and headers of a delivery in a format. Header names are in lower case. */
interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function contentOf(format: HookFormat, occurrence: HookEventOccurrence): Content {
  if (isChatFormat(format)) return json(chatMessage(format, occurrence));
  switch (format) {
    case 'standard':
      return json(payload(occurrence));
    case 'github':
      return github(occurrence);
  }
}

/**
 * "Create a repository dispatch event" of GitHub's REST API: `event_type` has at most 100 characters, `client_payload`
 * at most 10 properties. Workflows do not receive the headers, so the id is in the payload as well.
 * https://docs.github.com/rest/repos/repos#create-a-repository-dispatch-event
 */
const github = (occurrence: HookEventOccurrence): Content =>
  json(
    { event_type: occurrence.type, client_payload: { id: occurrence.id, ...payload(occurrence) } },
    { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  );

/** Standard Webhooks 1.0, "Payload structure". */
const payload = ({ type, occurredAt, workspace, data }: HookEventOccurrence) => ({
  type,
  timestamp: occurredAt,
  data: { workspace, ...data },
});

const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): Content => ({
  headers: { 'content-type': 'application/json', 'user-agent': 'workspace-automation', ...headers },
  body: JSON.stringify(body),
});

/**
 * Formats for people. Receivers display the text, ignore the signature, and authenticate the sender by a secret in the
 * URL.
 */
export const chatFormats = ['slack', 'discord', 'teams'] as const satisfies readonly HookFormat[];

export type ChatFormat = (typeof chatFormats)[number];

const isChatFormat = (format: HookFormat): format is ChatFormat => chatFormats.some((each) => each === format);

/** Message for a chat. Escaped, so that a path or a note can neither mention anyone nor contain formatting. */
function chatMessage(format: ChatFormat, occurrence: HookEventOccurrence): unknown {
  const { lines, link } = messageOf(occurrence);
  const all = link === null ? lines : [...lines, link];
  switch (format) {
    case 'slack':
      return { text: escapedForSlack(all.join('\n')), mrkdwn: false, unfurl_links: false };
    case 'discord': {
      // URLs must not be escaped. https://docs.discord.com/developers/resources/webhook#execute-webhook
      const escaped = lines.map(escapedForDiscord);
      return {
        content: (link === null ? escaped : [...escaped, `<${link}>`]).join('\n'),
        allowed_mentions: { parse: [] },
      };
    }
    case 'teams':
      // A RichTextBlock displays plain text. A TextBlock would render Markdown. See
      // https://adaptivecards.io/explorer/RichTextBlock.html
      return {
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              body: all.map(textOf),
            },
          },
        ],
      };
  }
}

const maxLinkLength = 500;

/** The sentence, the file that it is about, and the URL of the run that acquired the lock. */
function messageOf(occurrence: HookEventOccurrence) {
  const sentence = shortened(sentenceOf(occurrence));
  if (!('lock' in occurrence.data)) return { lines: [sentence], link: null };
  const { path, origin } = occurrence.data.lock;
  const link = origin !== null && origin.length <= maxLinkLength ? origin : null;
  return { lines: [sentence, shortened(`${occurrence.workspace}: ${path}`)], link };
}

/** A Discord message has at most 2,000 characters, and escaping can double its length. */
const maxLength = 360;

const shortened = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;

function sentenceOf({ type, workspace, data }: HookEventOccurrence): string {
  switch (type) {
    case 'sync.succeeded':
      return `${workspace}: ${data.sync.branch} is in sync.`;
    case 'sync.failed': {
      const { branch, error } = data.sync;
      return `${workspace}: the sync of ${branch} failed.${error === null ? '' : ` ${error}`}`;
    }
    case 'lock.acquired': {
      const { lock } = data;
      return `${fileName(lock)} is locked: ${lock.owner} holds it until ${minute(lock.expires_at)} at the latest.${noteOf(lock)}`;
    }
    case 'lock.released': {
      const { lock, released_by: by, forced } = data;
      return `${fileName(lock)} is free: ${by} has released ${forced ? `the lock of ${lock.owner} by force` : 'it'}.`;
    }
    case 'lock.expired':
      return `${fileName(data.lock)} is free: the lock of ${data.lock.owner} has expired.`;
    case 'lock.requested': {
      const { lock, request } = data;
      return `${request.owner} waits for ${fileName(lock)}, held by ${lock.owner}.${noteOf(request)}`;
    }
  }
}

const noteOf = ({ owner, note }: Pick<Lock, 'owner' | 'note'>): string =>
  note === null ? '' : ` ${owner} says: ${note}`;

/** "2026-01-02 03:04 UTC". Includes date and zone, because readers may be in any time zone, and may read it later. */
const minute = (time: Timestamp): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

const fileName = ({ path }: Lock): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * "Escaping text": these characters are part of every mention and link.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
const escapedForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const escapedForDiscord = (text: string): string => text.replaceAll(/[\\*_~`|<>@#[\]()-]/g, '\\$&');

const textOf = (text: string) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] });
