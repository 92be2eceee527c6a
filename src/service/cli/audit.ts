import { optional, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { parsePositiveDuration } from '../../interface/duration.ts';
import { oneOf, textOf, wholeNumber } from '../../interface/parsed.ts';
import { auditActions, readAudit } from '../audit/audit.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand } from './storage-command.ts';

const maxEntries = 1_000_000;
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
    actor: optional(
      'ACTOR',
      'only by this token (its name or id) or operator:NAME',
      textOf('a name or an id'),
      'default all',
    ),
    workspace: optional('ID', 'only entries about this workspace', parseWorkspaceId, 'default all'),
  },
  example: '--since 7d --action lock.force-released',
  async run({ flags }, storage) {
    const { entries, isComplete } = await readAudit(storage, flags);
    const columns = ['at', 'actor', 'token_id', 'address', 'action', 'detail'] as const;
    const table = textTable(entries, columns, 'No entries found.');
    return {
      document: { entries, complete: isComplete },
      lines: isComplete ? table : [...table, '', 'There are older entries: raise --limit.'],
    };
  },
});
