import { optional, wholeNumber, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { parsePositiveDuration } from '../../interface/duration.ts';
import { timeCell } from '../../interface/format.ts';
import { oneOf } from '../../interface/one-of.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { auditActions, readAudit } from '../audit/audit.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { looksLikeTokenSecret } from '../tokens/secret.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand } from './storage-command.ts';

const maxEntries = 1_000_000;
const maxNumber = 999_999_999_999_999;

/** Ambiguous values, such as those that look like another NAME=VALUE pair, are written as JSON. */
const formatValue = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=,[\]{}]+$/.test(value) ? value : JSON.stringify(value);

const formatDetail = (detail: RecordedEntry['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${formatValue(name)}=${formatValue(value)}`)
    .join(' ');

export const audit = defineStorageCommand({
  name: 'audit',
  summary: 'list the audit log: who did what, when, and from where; newest first',
  details: [
    `Actions: ${auditActions.join(', ')}.`,
    'What a token does with its own locks and syncs is in the log of the service, not here.',
  ],
  flags: {
    limit: withDefault('N', 'maximum number of entries to list', wholeNumber(1, maxEntries), '100'),
    since: optional('DURATION', 'how far back, such as 12h or 90d', parsePositiveDuration, 'default the beginning'),
    action: optional(
      'ACTION',
      'only this action, such as token.created',
      oneOf(auditActions, `The actions are ${auditActions.join(', ')}.`),
      'default all',
    ),
    actor: optional('ACTOR', 'only by this token (its name or id) or operator:NAME', parseActor, 'default all'),
    workspace: optional('ID', 'only entries about this workspace', parseWorkspaceId, 'default all'),
    before: optional('N', 'only entries older than this entry number', wholeNumber(1, maxNumber)),
  },
  example: '--since 7d --action lock.force-released',
  async run({ flags }, storage) {
    const { entries, next } = await readAudit(storage, flags);
    const table = textTable(
      entries,
      {
        WHEN: ({ at }) => timeCell(at),
        WHO: ({ actor }) => actor,
        TOKEN: ({ token_id }) => token_id,
        ADDRESS: ({ address }) => address,
        ACTION: ({ action }) => action,
        DETAIL: ({ detail }) => formatDetail(detail),
      },
      'No entries found.',
    );
    const older = next === undefined ? [] : ['', `There are older entries: add --before ${next}.`];
    return { document: { entries, next: next ?? null }, lines: [...table, ...older] };
  },
});

/** Longer than any name of a token or of a user of the command line. */
const maxActorLength = 1_024;

/** Name or id of a token. A secret, easily mistaken for an id, is rejected before it can be printed. */
function parseActor(text: string): Parsed<string> {
  if (looksLikeTokenSecret(text)) {
    return refused(
      'This is the secret of a token. Use its name or its id, as "workspace-service token list" shows them.',
    );
  }
  if (text.length > maxActorLength) return refused('It is longer than any name.');
  return /\p{Cc}/u.test(text) ? refused('It must not have control characters.') : accepted(text.normalize('NFC'));
}
