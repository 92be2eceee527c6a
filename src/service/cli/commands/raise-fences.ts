import { recordAudit } from '../../audit/audit.ts';
import { raiseFences } from '../../backup/restore.ts';
import { defineStorageCommand, operatorActor } from '../storage/storage-command.ts';

/** Generous limit: no standby that lags a week behind its primary is promoted. */
const longestLagMs = 7 * 86_400_000;

export const raiseFencesCommand = defineStorageCommand({
  name: 'raise-fences',
  summary: 'raise the fences of all workspaces, after promoting a standby that may lack the last changes',
  details: [
    'An asynchronous standby can lack the last locks of its primary, and would issue their fences again. Promote it, run this',
    'command, and only then start the service. Running it twice does no harm.',
  ],
  example: '--json',
  async run(_context, { commit, now }) {
    const fences_raised_by = await commit('global', async (db) => {
      const raisedBy = await raiseFences(db, [], longestLagMs);
      const detail = { fences_raised_by: raisedBy };
      await recordAudit(db, now, { actor: operatorActor(), action: 'fences.raised', detail });
      return raisedBy;
    });
    return { document: { fences_raised_by }, lines: [`Fences raised by ${fences_raised_by}.`] };
  },
});
