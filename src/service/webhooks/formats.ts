import type { HookFormat } from '../../interface/resources.ts';
import type { HookEventOccurrence } from '../outbox/event.ts';
import { chatMessage, isChatFormat } from './chat-formats.ts';

/** Body and headers of a delivery in a format. Header names are in lower case. */
interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function contentOf(format: HookFormat, occurrence: HookEventOccurrence): Content {
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
    { event_type: occurrence.type, client_payload: { id: occurrence.id, ...payload(shortened(occurrence)) } },
    { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  );

/** GitHub refuses a `client_payload` of more than 64 KB. */
const maxPathBytes = 50_000;

function shortened(occurrence: HookEventOccurrence): HookEventOccurrence {
  if (occurrence.type !== 'sync.succeeded') return occurrence;
  const { changed_paths: paths } = occurrence.data;
  if (paths === null || Buffer.byteLength(JSON.stringify(paths)) <= maxPathBytes) return occurrence;
  const data = { ...occurrence.data, changed_paths: paths.slice(0, paths.length / 2), more_changed_paths: true };
  return shortened({ ...occurrence, data });
}

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
