import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { needsClient } from '../service/lfs/desk.ts';
import { createRepository, manyCommits, type Repository } from '../support/git-repository.ts';
import { nameOf, pointerTo, startLfsStore } from '../support/lfs-store.ts';
import { inTurn, json, page } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { fasterTime } from '../support/preload.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { errorsOf, jobAt, openScene } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene();
let remote: Repository;

beforeAll(() => {
  remote = createRepository(scene.service.dataFolder);
  remote.commit(...manyCommits(20));
  remote.git('branch', 'topic', 'main');
});

describe('a sync', () => {
  test('is started, and the step ends', async () => {
    const workspace = await scene.service.workspace(remote.path);
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main' } });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [] });
    const queued = {
      status: 'queued',
      branch: 'main',
      estimated_objects: '100',
      sync_id: expect.stringMatching(/^sync_/),
    };
    expect(result.outputs).toEqual(queued);
    expect(stable(result.log)).toBe('The sync of main in <workspace> is queued, about 100 objects to receive.');
    expect(result.state).toEqual({});
  });

  test('is waited for, and its progress is logged', async () => {
    const workspace = await scene.service.workspace(remote.path);
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(result.outputs).toMatchObject({ status: 'succeeded', estimated_objects: '100', missing_objects: '0' });
    const end = 'The branch main of <workspace> is synced: succeeded after <duration>, 100 objects received.';
    expect(stable(result.log).split('\n').at(-1)).toBe(end);
  });

  test('fails the step if it fails', async () => {
    const workspace = await scene.service.workspace(join(scene.service.dataFolder, 'nothing.git'));
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.outputs).toMatchObject({ status: 'failed', branch: 'main' });
    expect(errorsOf(result)).toEqual([
      expect.stringMatching(/^The sync of main failed: git could not fetch the branch /),
    ]);
  });

  test('warns about LFS objects that the mirror lacks, and counts them in an output', async (context) => {
    needsClient(context);
    const store = await startLfsStore();
    onTestFinished(store.close);
    store.behaviour.public = true;
    const repository = createRepository(temporaryFolder());
    const pointer = (content: string): string => pointerTo(nameOf(content));
    const files = {
      'a.uasset': pointerTo(store.put('here')),
      'b.uasset': pointer('missing'),
      'c.uasset': pointer('too'),
    };
    repository.commit({ branch: 'main', files });
    const workspace = await scene.service.workspace(repository.path, { lfs_url: store.url });
    const job = await scene.job({ workspace });
    const started = await job.run({ with: { operation: 'sync', branch: 'main' } });
    expect(started.outputs).not.toHaveProperty('missing_objects');
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
    const message =
      'The mirror lacks 2 LFS objects of main that the service could not fetch. Make sure that the LFS store has them, then sync again.';
    expect(result).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'succeeded', missing_objects: '2' },
      annotations: [{ level: 'warning', message }],
    });
    expect(result.summary).toContain(message);
    for (const content of ['missing', 'too']) store.put(content);
    expect(await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } })).toMatchObject({
      outputs: { missing_objects: '0' },
      annotations: [],
    });
  });
});

test('outputs the id of a sync as soon as the service returns it, so that it survives a kill', async () => {
  const server = await startOtherServer((response, request) => {
    const sync = { sync_id: 'sync-7', status: 'queued', branch: 'main', estimated_objects: 3 };
    json(request.method === 'POST' ? 202 : 200, sync, { location: '/v1/workspaces/game/syncs/sync-7' })(
      response,
      request,
    );
  });
  const job = await jobAt(server.baseUrl);
  const step = await job.step({ with: { operation: 'sync', branch: 'main', wait: '1h' } });
  await expect.poll(() => server.requests.length).toBeGreaterThan(1);
  const killed = await step.kill();
  expect(killed).toMatchObject({ signal: 'SIGKILL', conclusion: 'failure' });
  expect(killed.outputs).toEqual({ sync_id: 'sync-7', status: 'queued', branch: 'main', estimated_objects: '3' });
});

describe('the sync of a third-party service', () => {
  const started = json(
    202,
    { sync_id: 's', status: 'pending', branch: 'main', estimated_objects: 2_000 },
    { location: '/v1/workspaces/game/syncs/s' },
  );
  const received = (received_objects: number, status = 'transferring') =>
    json(200, { id: 's', status, received_objects, estimated_objects: 2_000 });

  test('is logged only when it changes, and survives a transient error', async () => {
    const server = await startOtherServer(
      inTurn(started, received(0), received(0), page(503), received(2_000, 'completed')),
    );
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '5m', retries: '0' } });
    expect(result.conclusion).toBe('success');
    expect(result.log.match(/The sync is transferring, 0 of about 2,000 objects received\./g)).toHaveLength(1);
    expect(result.outputs).toMatchObject({ status: 'completed', sync_id: 's', estimated_objects: '2000' });
  });

  test('cannot be waited for without a status URL, which is reported', async () => {
    const server = await startOtherServer(json(202, { sync_id: 's', status: 'queued', branch: 'main' }));
    const result = await (await jobAt(server.baseUrl)).run({ with: { operation: 'sync', branch: 'main', wait: '5m' } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'queued', sync_id: 's' } });
    expect(errorsOf(result)).toEqual([
      expect.stringContaining('the service returned no status URL on its own server.'),
    ]);
  });

  test('fails the step if it exceeds the wait, with the last known status', async () => {
    const server = await startOtherServer(inTurn(started, received(700)));
    const job = await jobAt(server.baseUrl);
    // One second is short on a busy machine: for this process, time passes five times slower.
    const env = { NODE_OPTIONS: fasterTime(1 / 5) };
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1s' }, env });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'transferring', sync_id: 's' } });
    expect(errorsOf(result)).toEqual([
      'The sync of main was not seen to finish within 1s: its last known status is transferring, 700 of about 2,000 objects received. The sync continues on the service. Increase `wait` to wait longer.',
    ]);
  });
});
