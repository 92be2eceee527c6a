import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import { type Retention, removeInBatches } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { recordAudit } from './audit.ts';
import { dayMs } from './day.ts';
import { firstSequenceAt } from './read-audit.ts';

const maintenance = { name: 'maintenance', tokenId: null, address: null };

/**
 * Removes the entries of all days that are older than the retention. A trigger rejects the removal of entries after a
 * stored limit. The limit is raised in one transaction with an audit entry about it.
 */
export async function removeOldAudit(
  storage: Pick<Storage, 'read' | 'now' | 'commit'>,
  { keepAudit }: Pick<Retention, 'keepAudit'>,
): Promise<void> {
  if (keepAudit === undefined) return;
  const { read, now, commit } = storage;
  const { time } = await read.selectNoFrom(now.as('time')).executeTakeFirstOrThrow();
  const before = Math.floor((time - milliseconds(keepAudit)) / dayMs) * dayMs;
  const end = await firstSequenceAt(read, before);
  const old = read.selectFrom('audit').select('sequence').where('sequence', '<', end).where('at', '<', before).limit(1);
  if ((await old.executeTakeFirst()) === undefined) return;
  await commit('global', async (db) => {
    const raised = await db
      .insertInto('quotas')
      .values({ name: 'auditRemovableBefore', value: before })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ value: before }).where('quotas.value', '<', before),
      )
      .executeTakeFirst();
    if (raised.numInsertedOrUpdatedRows === 0n) return;
    await recordAudit(db, now, {
      actor: maintenance,
      action: 'audit.removed',
      detail: { before: asTimestamp(before) },
    });
  });
  await removeInBatches(storage, { table: 'audit', time: 'sequence' }, sql`sequence < ${end} and at < ${before}`);
}
