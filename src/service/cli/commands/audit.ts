import { parsePositiveDuration } from '../../../interface/duration.ts';
import { timeCell } from '../../../interface/format.ts';
import { oneOf } from '../../../interface/one-of.ts';
import { auditActions } from '../../audit/audit.ts';
import { parseDay, parseEndOfDay } from '../../audit/day.ts';
import { exportAudit } from '../../audit/export-audit.ts';
import { readAudit } from '../../audit/read-audit.ts';
import type { RecordedEntry } from '../../outbox/event.ts';
import { parseAuditActor } from '../../tokens/audit-actor.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { optional, withDefault } from '../definition/flags.ts';
import { wholeNumber } from '../definition/values.ts';
import { textTable } from '../output/table.ts';
import { defineStorageCommand } from '../storage/storage-command.ts';

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
    limit: withDefault('N', 'maximum number of entries to list', '100', wholeNumber(1, maxEntries)),
    format: optional(
      'FORMAT',
      'write all entries as csv or jsonl, regardless of --limit',
      'default a table',
      oneOf(['csv', 'jsonl']),
    ),
    since: optional(
      'DURATION',
      'how far back to look, such as 12h or 90d',
      'default the beginning',
      parsePositiveDuration,
    ),
    from: optional('DATE', 'the first day to list, in UTC, such as 2026-03-01', 'default the beginning', parseDay),
    to: optional('DATE', 'the last day to list, in UTC', 'default today', parseEndOfDay),
    action: optional(
      'ACTION',
      'only this action, such as token.created',
      'default all',
      oneOf(auditActions, `The actions are ${auditActions.join(', ')}.`),
    ),
    actor: optional(
      'ACTOR',
      'only entries by this token (its name or id), or by operator:NAME',
      'default all',
      parseAuditActor,
    ),
    workspace: optional('ID', 'only entries about this workspace', 'default all', parseWorkspaceId),
    before: optional('N', 'only entries older than this entry number', 'default none', wholeNumber(1, maxNumber)),
  },
  example: '--since 7d --action lock.force-released',
  check: ({ from, to }) => (from !== undefined && to !== undefined && from >= to ? ['--from is after --to.'] : []),
  async run({ flags: { limit, format, since, from, to, action, actor, workspace, before } }, storage) {
    const query = { since, from, until: to, action, actor, workspace, before };
    const readPage = (before = query.before, limit = pageSize) => readAudit(storage, { ...query, before, limit });
    if (format !== undefined) return { file: exportAudit(format, readPage) };
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
      Object.values(query).some((filter) => filter !== undefined) ? 'No entry matches.' : 'The audit log is empty.',
    );
    const older = next === undefined ? [] : ['', `There are older entries: add --before ${next}.`];
    return { document: { entries, next: next ?? null }, lines: [...table, ...older] };
  },
});
