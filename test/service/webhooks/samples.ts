import type { Parsed } from '../../../src/interface/parsed.ts';
import type { HookFormat } from '../../../src/interface/resources.ts';
import type { Lock, Sync } from '../../../src/service/contract/schemas.ts';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';
import type { HookRow } from '../../../src/service/outbox/outbox.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from '../../support/value-in.ts';

export function whyOf(parsed: Parsed<unknown>): string {
  if (parsed.ok) throw new Error('It was accepted.');
  return parsed.reason;
}

export const sync: Sync = {
  sync_id: 'syn_1',
  status: 'succeeded',
  branch: 'art/änderung',
  estimated_objects: 12,
  received_objects: 11,
  received_bytes: 1_000,
  total_bytes: 1_000,
  missing_objects: 0,
  missing: [],
  head: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  error: null,
  created_at: '2026-01-02T03:04:05.006Z',
  started_at: '2026-01-02T03:04:06.006Z',
  finished_at: '2026-01-02T03:04:07.006Z',
};

export const lock: Lock = {
  id: 'lck_1',
  path: 'art/hero.psd',
  type: 'exclusive',
  owner: 'nightly',
  origin: null,
  note: null,
  acquired_at: '2026-01-02T03:04:05.006Z',
  expires_at: '2026-01-02T04:04:05.006Z',
  fence: 7,
  lease: null,
};

export const succeeded = {
  id: 'evt_1',
  type: 'sync.succeeded',
  workspace: 'game',
  occurredAt: '2026-01-02T03:04:07.006Z',
  data: { sync, triggered_by: 'nightly' },
} satisfies HookEventOccurrence;

export const released: HookEventOccurrence = {
  id: 'evt_2',
  type: 'lock.released',
  workspace: 'game',
  occurredAt: '2026-01-02T03:30:00.000Z',
  data: { lock, released_by: 'admin', forced: true },
};

interface GivenHook {
  readonly url?: string;
  readonly format?: HookFormat;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A hook as it is stored. */
export const hookRow = ({ format = 'standard', headers = {}, ...given }: GivenHook): HookRow => ({
  id: 'hook_1',
  workspace_id: 'game',
  url: 'https://a.example.com/',
  events: '[]',
  branches: null,
  format,
  secret: newWebhookSecret(),
  headers: JSON.stringify(valueIn(parseExtraHeaders(headers))),
  active: 1,
  failing_since: null,
  last_error: null,
  created_at: 0,
  updated_at: 0,
  ...given,
});
