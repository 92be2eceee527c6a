import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { HookEvent, HookFormat } from '../../interface/resources.ts';
import { type HookEventOccurrence, isSyncEvent, type SyncEvent, type SyncOccurrence } from '../outbox/event.ts';
import { chatMessage, isChatFormat } from './chat-formats.ts';

const onlySyncs =
  'The buildkite format starts a build of a branch, and only sync events have one. Subscribe only to these.';

/** Reason why the format does not support the events; undefined if it does. */
export const subscriptionProblem = (format: HookFormat, events: readonly HookEvent[]): string | undefined =>
  format === 'buildkite' && !events.every(isSyncEvent) ? onlySyncs : undefined;

/** Body and headers of a delivery in a format. Header names are in lower case. */
interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Also refuses unsupported events, because the format of a hook may have changed since the event occurred. */
export function contentOf(format: HookFormat, occurrence: HookEventOccurrence): Parsed<Content> {
  if (isChatFormat(format)) return accepted(json(chatMessage(format, occurrence)));
  switch (format) {
    case 'standard':
      return accepted(json(payload(occurrence)));
    case 'github':
      return accepted(github(occurrence));
    case 'buildkite':
      return isSync(occurrence) ? accepted(buildkite(occurrence)) : refused(onlySyncs);
  }
}

const isSync = (occurrence: HookEventOccurrence): occurrence is SyncOccurrence => isSyncEvent(occurrence.type);

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

/**
 * "Create a build" of Buildkite's REST API. The values of `meta_data` are strings. A failed sync may have no head: with
 * `HEAD`, Buildkite looks up the commit.
 * https://buildkite.com/docs/apis/rest-api/builds#create-a-build
 */
function buildkite({ id, type, workspace, data: { sync } }: SyncOccurrence): Content {
  const outcome: Record<SyncEvent, string> = {
    'sync.succeeded': `${workspace}: ${sync.branch} is in sync`,
    'sync.failed': `${workspace}: the sync of ${sync.branch} failed`,
  };
  return json({
    commit: sync.head ?? 'HEAD',
    branch: sync.branch,
    message: outcome[type],
    meta_data: {
      event_id: id,
      event: type,
      workspace,
      sync_id: sync.sync_id,
      received_objects: String(sync.received_objects),
      ...(sync.error === null ? {} : { error: sync.error }),
    },
  });
}

const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): Content => ({
  headers: { 'content-type': 'application/json', 'user-agent': 'workspace-automation', ...headers },
  body: JSON.stringify(body),
});
