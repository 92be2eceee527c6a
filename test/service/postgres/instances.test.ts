import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresAt, postgresServer } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { postgresOfTests } from '../../support/postgres-of-tests.ts';
import { type RunningService, type RunningServiceOptions, startTestService } from '../../support/running-service.ts';
import { findRows } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';

/** Several instances in this process, on one PostgreSQL database. */
const startInstances = (url: string, count: number, options: RunningServiceOptions = {}): Promise<RunningService[]> =>
  Promise.all(Array.from({ length: count }, () => startTestService(postgresAt(url), options)));

describe.skipIf(postgresServer === undefined)('instances on one PostgreSQL (needs TEST_DATABASE_URL)', () => {
  const url = postgresOfTests();
  let instances: RunningService[] = [];
  let token: string;

  beforeAll(async () => {
    // All start at the same time on an empty database: one of them runs the migrations.
    instances = await startInstances(url(), 3);
    token = (await first().token()).secret;
  });
  afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

  const first = (): RunningService => instance(0);
  function instance(index: number): RunningService {
    const found = instances[index % instances.length];
    if (found === undefined) throw new Error('No instance was started.');
    return found;
  }

  const locksAt = (index: number, workspace: string) => locksOf(instance(index), workspace, token);

  test('a client that waits at one instance is notified of a release at another', async () => {
    const workspace = await first().workspace();
    const wait = (index: number) => locksAt(index, workspace).list('?path=a', { headers: { prefer: 'wait=30' } });
    for (let round = 0; round < 5; round += 1) {
      const held = await locksAt(0, workspace).take('a');
      const waiting = [wait(1), wait(2)];
      for (const index of [1, 2]) await untilWaiting(instance(index), token, 1);
      const began = performance.now();
      await locksAt(0, workspace).release('a', { 'if-match': held.headers.get('etag') ?? '' });
      for (const response of await Promise.all(waiting)) expect(response.body.locks).toEqual([]);
      // A generous limit: without a notification, the clients would wait until their time ends.
      expect(performance.now() - began).toBeLessThan(10_000);
    }
  });

  test('one instance runs a sync, and all of them report its progress', async () => {
    const remote = createRepository(temporaryFolder());
    remote.commit({ branch: 'main', files: { a: '1' } });
    const workspace = await first().workspace(remote.path);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        instance(index).ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch: 'main' } }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    for (const [index, { headers }] of replies.entries()) {
      await expect
        .poll(async () => (await instance(index + 1).ask('GET', headers.get('location') ?? '', { token })).body, {
          timeout: 30_000,
        })
        .toMatchObject({ status: 'succeeded', head: remote.head('main') });
    }
    const rows = await findRows(first().storage, 'syncs', { workspace_id: workspace });
    expect(new Set(rows.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  });
});
