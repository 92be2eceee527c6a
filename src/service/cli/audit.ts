import { optional, wholeNumber, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { parsePositiveDuration } from '../../interface/duration.ts';
import { timeCell } from '../../interface/format.ts';
import { oneOf } from '../../interface/one-of.ts';
import { auditActions } from '../audit/audit.ts';
import { readAudit } from '../audit/read-audit.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { parseAuditActor } from '../tokens/audit-actor.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand } from './storage-command.ts';

const pageSize = 1_000;

export const audit = defineStorageCommand({
  name: 'audit',
  summary: 'list the audit log: who did what, when, and from where; newest first',
  details: [
    `Actions: ${auditActions.join(', ')}.`,
    'What a token does with its own locks and syncs is in the log of the service, not here.',
  ],
  flags: {
    limit: withDefault('N', 'maximum number of entries to list', wholeNumber(1, 1_000_000), '100'),
    since: optional('DURATION', 'how far back, such as 12h or 90d', parsePositiveDuration, 'default the beginning'),
    action: optional(
      'ACTION',
      'only this action, such as token.created',
      oneOf(auditActions, `The actions are ${auditActions.join(', ')}.`),
      'default all',
    ),
    actor: optional('ACTOR', 'only by this token (its name or id) or operator:NAME', parseAuditActor, 'default all'),
    workspace: optional('ID', 'only entries about this workspace', parseWorkspaceId, 'default all'),
  },
  example: '--since 7d --action lock.force-released',
  async run({ flags: { limit, ...query } }, storage) {
    const entries: RecordedEntry[] = [];
    let next: number | undefined;
    do {
      const page = await readAudit(storage, {
        ...query,
        before: next,
        limit: Math.min(pageSize, limit - entries.length),
      });
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
    const older = next === undefined ? [] : ['', 'There are older entries: increase --limit.'];
    return { document: { entries }, lines: [...table, ...older] };
  },
});

const formatDetail = (detail: RecordedEntry['detail']): string =>
  Object.entries(detail)
    .map(([name, value]) => `${formatValue(name)}=${formatValue(value)}`)
    .join(' ');

/** Ambiguous values, such as those that look like another NAME=VALUE pair, are written as JSON. */
const formatValue = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=,[\]{}]+$/.test(value) ? value : JSON.stringify(value);
