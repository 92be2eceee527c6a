import { withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { wholeNumber } from '../../interface/parsed.ts';
import { auditActions, readAudit } from '../audit/audit.ts';
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
  },
  example: '--limit 1000',
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
