import pino from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Git } from '../../../src/service/git/git.ts';
import { GitError } from '../../../src/service/git/git-error.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type ClaimedSync, claimSync, enqueue, findSync } from '../../../src/service/syncs/queue.ts';
import { runSync } from '../../../src/service/syncs/sync-worker.ts';
import { type FetchObjects, noObjects } from '../../../src/service/syncs/wanted-objects.ts';
import { databaseKinds } from '../../support/databases.ts';
import { endlessDisk } from '../../support/endless-disk.ts';
import { branchNamed } from '../../support/git-service.ts';
import { changeRows, storeWorkspace } from '../../support/stored-rows.ts';

/** As after the end of an earlier claim. */
async function claimAgain(storage: Storage) {
  await changeRows(storage, 'syncs', { claimed_until: 0 });
  return claimSync(storage);
}

describe.each(databaseKinds)('a running sync on $name', (kind) => {
  /** A claimed sync, with a fetch that the test controls. */
  async function startRunning(fetchObjects: FetchObjects = async () => noObjects) {
    const { storage, remove } = await kind.open();
    onTestFinished(remove);
    await storeWorkspace(storage, { id: 'w' });
    const { sync_id } = await storage.commit('global', (db) =>
      enqueue(db, { workspace: 'w', branch: branchNamed('main'), estimatedObjects: 100, requestedBy: 'ada' }),
    );
    const claimed = await claimSync(storage);
    if (claimed === undefined) throw new Error('The sync was not claimed.');
    const course = Promise.withResolvers<{ head: string; receivedObjects: number }>();
    let receive: (objects: number) => void = () => undefined;
    const git: Partial<Git> = {
      fetch: (_workspace, _remote, _branch, { signal }, onReceived = () => undefined) => {
        receive = onReceived;
        // As in runGit().
        const stopped = new GitError('aborted', 'It was stopped.');
        signal?.addEventListener('abort', () =>
          course.reject(signal.reason instanceof GitError ? signal.reason : stopped),
        );
        return course.promise;
      },
    };
    const stopping = new AbortController();
    const lines: string[] = [];
    let renewals = 0;
    let isLow = false;
    const parts: Parameters<typeof runSync>[0] = {
      storage: { ...storage, claim: (work) => storage.claim(work).finally(() => (renewals += 1)) },
      // runSync() uses only this part of it.
      git: git as Git,
      freeDisk: { ...endlessDisk, isLow: () => isLow, reserve: '1 GB' },
      fetchObjects,
      allowFileRemotes: false,
      syncTimeout: { seconds: 60 },
      metrics: createMetrics(),
      log: pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) }),
    };
    const run = (sync: ClaimedSync) => runSync(parts, sync, stopping.signal);
    const done = run(claimed);
    const status = () => findSync(storage.read, 'w', sync_id);
    return {
      storage,
      done,
      run,
      status,
      stopping,
      course,
      lines,
      renewals: () => renewals,
      receive: (objects: number) => receive(objects),
      fillDisk: () => {
        isLow = true;
      },
    };
  }

  test('is interrupted when less than the reserve of the disk is free, and does not fail: another one may have filled it', async () => {
    const { storage, status, receive, fillDisk, done, lines } = await startRunning();
    receive(40);
    fillDisk();
    await done;
    expect(lines).toEqual(['sync interrupted until there is disk space']);
    expect(await status()).toMatchObject({ status: 'running', finished_at: null, error: null });
    // After a pause, which is random.
    expect(await claimSync(storage)).toBeUndefined();
    expect(await claimAgain(storage)).toMatchObject({ workspace: 'w', branch: 'main', exhausted: false });
  });

  test('fails after several attempts that the disk interrupted, so that a branch that is too large ends', async () => {
    const { storage, status, fillDisk, done, run } = await startRunning();
    fillDisk();
    await done;
    for (let claimed = await claimAgain(storage); claimed !== undefined; claimed = await claimAgain(storage)) {
      await run(claimed);
    }
    expect(await status()).toMatchObject({ status: 'failed', error: expect.stringContaining('did not finish') });
  });

  test('reports the number of received objects while it runs', async () => {
    const { status, receive, renewals, course, done } = await startRunning();
    const began = performance.now();
    for (const received of [40, 90]) {
      receive(received);
      await expect
        .poll(status)
        .toMatchObject({ status: 'running', received_objects: received, estimated_objects: 100 });
    }
    course.resolve({ head: 'abc', receivedObjects: 101 });
    await done;
    expect(await status()).toMatchObject({ status: 'succeeded', received_objects: 101, head: 'abc' });
    // Each delays what the sync writes.
    expect(renewals()).toBeLessThan((performance.now() - began) / 2_000);
  });

  test('is left to the next instance if the service stops', async () => {
    const { storage, status, stopping, done } = await startRunning();
    stopping.abort();
    await done;
    expect(await status()).toMatchObject({ status: 'running', finished_at: null });
    expect(await claimSync(storage)).toMatchObject({ workspace: 'w', branch: 'main' });
  });

  test('records nothing and reports that it was taken over, even at its very end', async () => {
    const { storage, status, course, lines, done } = await startRunning();
    await changeRows(storage, 'syncs', { claimed_by: 'another' });
    course.resolve({ head: 'abc', receivedObjects: 1 });
    await done;
    expect(lines).toEqual(['sync taken over by another instance, or workspace removed']);
    expect(await status()).toMatchObject({ status: 'running', head: null, finished_at: null });
  });

  test.each(['its claim is lost', 'the service stops'])('ends the download of LFS objects when %s', async (when) => {
    const begun = Promise.withResolvers<void>();
    const { storage, status, course, done, stopping } = await startRunning((_wanted, { signal }) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    });
    course.resolve({ head: 'abc', receivedObjects: 101 });
    await begun.promise;
    const claimedUntil = async () =>
      (await storage.read.selectFrom('syncs').select('claimed_until').executeTakeFirst())?.claimed_until ?? 0;
    const until = await claimedUntil();
    await expect.poll(claimedUntil).toBeGreaterThan(until);
    if (when === 'the service stops') stopping.abort();
    else await changeRows(storage, 'syncs', { claimed_by: 'another instance' });
    await done;
    expect(await status()).toMatchObject({ status: 'running', head: null, finished_at: null });
  });
});
