import { describe, expect, test } from 'vitest';
import { timeOf } from '../../../src/service/storage/timestamp.ts';
import { formerHeads } from '../../../src/service/workspaces/synced-branches.ts';
import { databaseKinds } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeManySyncs, storeSyncs } from '../../support/stored-rows.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';

const hours = 3_600_000;

describe.each(databaseKinds)('the former heads of a workspace on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game', 'film'] });

  test('are those of the last day, and on each served branch the one that was replaced in it', async () => {
    const now = await timeOf(storage.read);
    const sync = (head: string, hoursAgo: number, more = {}) => {
      const at = Math.round(now - hoursAgo * hours);
      return { id: `sync_${head}`, workspace_id: 'game', head, created_at: at - 2_000, finished_at: at, ...more };
    };
    await storeSyncs(
      storage,
      ...[sync('oldest', 26), sync('replaced', 25), sync('later', 2), sync('newest', 1)],
      sync('failed', 24.5, { status: 'failed' }),
      // Requested before this time, and finished in it.
      ...[sync('long', 23.9, { branch: 'long', created_at: 1 }), sync('next', 1, { branch: 'long' })],
      sync('before', 25, { branch: 'long' }),
      sync('unchanged', 25, { branch: 'unchanged' }),
      ...[sync('another', 1, { workspace_id: 'film' }), sync('deleted', 1, { branch: 'deleted' })],
    );
    await storeManySyncs(storage, 'game');
    const queries: RecordedQuery[] = [];
    const served = new Map(['main', 'long', 'unchanged'].map((branch) => [branchNamed(branch), '']));
    const heads = await formerHeads({ ...storage, read: recording(storage.read, queries) }, 'game', served);
    expect(heads.sort()).toEqual(['later', 'long', 'newest', 'next', 'replaced']);
    // It reads no other rows, however many syncs the workspace has had.
    const plan = await planOf(storage, queries.at(-1) ?? expect.fail('It asked nothing.'));
    expect(plan).toMatch(/syncs_of_workspace.*\s.*created_at ?>|syncs_of_workspace \(.*created_at>/);
    expect(plan).toMatch(/syncs_of_branch.*\s.*finished_at ?<|syncs_of_branch \(.*finished_at</);
  });
});
