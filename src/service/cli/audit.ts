import { pipeline } from 'node:stream/promises';
import { optional, withDefault } from '../../command/flags.ts';
import type { ProcessIo } from '../../command/io.ts';
import { textTable } from '../../command/print.ts';
import { wholeNumber } from '../../command/values.ts';
import { parsePositiveDuration } from '../../interface/duration.ts';
import { timeCell } from '../../interface/format.ts';
import { oneOf } from '../../interface/one-of.ts';
import { auditActions } from '../audit/audit.ts';
import { exportAudit, parseDay, parseEndOfDay, readAudit } from '../audit/read-audit.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { parseAuditActor } from '../tokens/audit-actor.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand } from './storage-command.ts';

const pageSize = 1_000;
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
    format: optional(
      'FORMAT',
      'write all entries as csv or jsonl, regardless of --limit',
      oneOf(['csv', 'jsonl']),
      'default a table',
    ),
    since: optional('DURATION', 'how far back, such as 12h or 90d', parsePositiveDuration, 'default the beginning'),
    from: optional('DATE', 'the first day to list, in UTC, such as 2026-03-01', parseDay, 'default the beginning'),
    to: optional('DATE', 'the last day to list, in UTC', parseEndOfDay, 'default today'),
    action: optional(
      'ACTION',
      'only this action, such as token.created',
      oneOf(auditActions, `The actions are ${auditActions.join(', ')}.`),
      'default all',
    ),
    actor: optional('ACTOR', 'only by this token (its name or id) or operator:NAME', parseAuditActor, 'default all'),
    workspace: optional('ID', 'only entries about this workspace', parseWorkspaceId, 'default all'),
    before: optional('N', 'only entries older than this entry number', wholeNumber(1, maxNumber)),
  },
  example: '--since 7d --action lock.force-released',
  check: ({ from, to }) => (from !== undefined && to !== undefined && from >= to ? ['--from is after --to.'] : []),
  async run({ io, flags: { limit, format, since, from, to, action, actor, workspace, before } }, storage) {
    const query = { since, from, until: to, action, actor, workspace, before };
    const readPage = (before = query.before, limit = pageSize) => readAudit(storage, { ...query, before, limit });
    if (format !== undefined) return void (await writeTo(io, exportAudit(format, readPage)));
    const entries: RecordedEntry[] = [];
    let next: number | undefined;
    do {
      const page = await readPage(next, Math.min(pageSize, limit - entries.length));
      entries.push(...page.entries);
      next = page.next;
    } while (next !== undefined && entries.length < limit);
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

/** A closed pipe, as with `head`, is not an error. */
async function writeTo(io: ProcessIo, file: AsyncIterable<string>): Promise<void> {
  await pipeline(file, io.output(), { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
