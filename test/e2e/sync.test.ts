import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRepository, manyCommits, type Repository } from '../support/git-repository.ts';
import { inTurn, json, nothing, page, silence } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { pullRequestEvent, pushEvent, tagEvent } from '../support/runner/github-context.ts';
import type { JobOptions } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import { stable, stableAll } from '../support/stable.ts';
import { openScene } from './scene.ts';

const scene = openScene();
let folder: string;
let remote: Repository;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sync-e2e-'));
  remote = createRepository(folder);
  remote.commit(...manyCommits(20));
  remote.git('branch', 'topic', 'main');
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

const jobAt = (baseUrl: string, options: JobOptions = {}) =>
  startJob({
    ...options,
    env: { WORKSPACE_BASE_URL: baseUrl, WORKSPACE_TOKEN: 'wsa_of_another_service', WORKSPACE_ID: 'game' },
  });

describe('a sync', () => {
  test('is triggered, and the step is done', async () => {
    const workspace = await scene.service.workspace(remote.path);
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main' } });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [] });
    expect(stableAll(result.outputs)).toMatchInlineSnapshot(`
      {
        "branch": "main",
        "estimated_objects": "100",
        "status": "queued",
        "sync_id": "<sync>",
      }
    `);
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"The sync of main in <workspace> is queued, about 100 objects to receive."`,
    );
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: sync</h3>
      <p>The sync of main in <workspace> is queued, about 100 objects to receive.</p>
      <table>
      <tr><th>Workspace</th><th>Branch</th><th>Status</th><th>Objects</th><th>Head</th></tr>
      <tr><td><workspace></td><td>main</td><td>queued</td><td>about 100</td><td></td></tr>
      </table>

      "
    `);
    expect(result.state).toEqual({});
  });

  test('is waited for, and told where it has changed', async () => {
    const workspace = await scene.service.workspace(remote.path);
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(stableAll(result.outputs)).toMatchInlineSnapshot(`
      {
        "branch": "main",
        "estimated_objects": "100",
        "status": "succeeded",
        "sync_id": "<sync>",
      }
    `);
    // In between it may be seen running.
    const [first, ...others] = stable(result.log).split('\n');
    expect(first).toBe('The sync of main in <workspace> is queued, about 100 objects to receive.');
    expect(others.at(-1)).toBe(
      'The branch main of <workspace> is synced: succeeded after <duration>, 100 objects received.',
    );
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: sync</h3>
      <p>The branch main of <workspace> is synced: succeeded after <duration>, 100 objects received.</p>
      <table>
      <tr><th>Workspace</th><th>Branch</th><th>Status</th><th>Objects</th><th>Head</th></tr>
      <tr><td><workspace></td><td>main</td><td>succeeded</td><td>100</td><td><commit></td></tr>
      </table>

      "
    `);
  });

  test('that fails, fails the step', async () => {
    const workspace = await scene.service.workspace(join(folder, 'nothing.git'));
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(stableAll(result.outputs)).toMatchInlineSnapshot(`
      {
        "branch": "main",
        "estimated_objects": "0",
        "status": "failed",
        "sync_id": "<sync>",
      }
    `);
    const text = (shown: string): string => stable(shown).replaceAll(folder, '<folder>');
    expect(result.annotations.map(({ message }) => text(message)).join()).toMatchInlineSnapshot(`
      "The sync of main failed: git could not fetch the branch main of <folder>/nothing.git: fatal: '<folder>/nothing.git' does not appear to be a git repository fatal: Could not read from remote repository."
    `);
    expect(text(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: sync</h3>
      <p>The sync of main failed: git could not fetch the branch main of <folder>/nothing.git: fatal: &#39;<folder>/nothing.git&#39; does not appear to be a git repository fatal: Could not read from remote repository.</p>
      <table>
      <tr><th>Workspace</th><th>Branch</th><th>Status</th><th>Objects</th><th>Head</th></tr>
      <tr><td><workspace></td><td>main</td><td>failed</td><td>0</td><td></td></tr>
      </table>

      "
    `);
  });

  test('of a branch that there is not fails the step', async () => {
    const workspace = await scene.service.workspace(remote.path);
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'sync', branch: 'nowhere' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]branch: The remote has no branch nowhere. It has main, topic (POST /v1/workspaces/<workspace>/sync: 422 Unprocessable Entity, request id <request>)."`,
    );
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: sync</h3>
      <p>branch: The remote has no branch nowhere. It has main, topic (POST /v1/workspaces/<workspace>/sync: 422 Unprocessable Entity, request id <request>).</p>

      "
    `);
  });
});

test('the id of a sync is there as soon as the service has named it: for who looks while, or after the step was killed', async () => {
  const server = await startOtherServer((response, request) => {
    const sync = { sync_id: 'sync-7', status: 'queued', branch: 'main', estimated_objects: 3 };
    json(request.method === 'POST' ? 202 : 200, sync, { location: '/v1/workspaces/game/syncs/sync-7' })(
      response,
      request,
    );
  });
  const job = await jobAt(server.baseUrl);
  const step = await job.step({ with: { operation: 'sync', branch: 'main', wait: '1h' } });
  await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBeGreaterThan(1);
  const killed = await step.kill();
  expect(killed).toMatchObject({ signal: 'SIGKILL', conclusion: 'failure' });
  expect(killed.outputs).toEqual({ sync_id: 'sync-7', status: 'queued', branch: 'main', estimated_objects: '3' });
});

test('a cancelled step stops waiting at once, and says that the service goes on', async () => {
  const server = await startOtherServer(
    json(202, { sync_id: 's', status: 'running', branch: 'main' }, { location: '/v1/s' }),
  );
  const job = await jobAt(server.baseUrl);
  const step = await job.step({ with: { operation: 'sync', branch: 'main', wait: '1h' } });
  await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBeGreaterThan(1);
  const result = await step.cancel();
  expect(result).toMatchObject({ conclusion: 'cancelled', exitCode: 1, signalsSent: ['SIGINT'] });
  expect(result.log).toContain('Waiting for the sync of main was cancelled; the service goes on with it.');
  expect(result.outputs).toMatchObject({ sync_id: 's', status: 'running' });
});

test('a step that is cancelled in a long pause does not wait for its last look', async () => {
  const server = await startOtherServer(
    json(202, { sync_id: 's', status: 'queued', branch: 'main' }, { location: '/v1/s', 'retry-after': '90' }),
  );
  const job = await jobAt(server.baseUrl);
  const step = await job.step({ with: { operation: 'sync', branch: 'main', wait: '1m' } });
  await step.waitForLog(/The sync of main in game is queued/);
  const result = await step.cancel();
  expect(result).toMatchObject({ conclusion: 'cancelled', exitCode: 1, signalsSent: ['SIGINT'] });
  expect(result.log).toContain('Waiting for the sync of main was cancelled; the service goes on with it.');
  expect(server.requests).toHaveLength(1);
});

describe('a service that others wrote', () => {
  const started = json(
    202,
    { sync_id: 's', status: 'pending', branch: 'main', estimated_objects: 2_000 },
    { location: '/v1/workspaces/game/syncs/s' },
  );
  const queued = { sync_id: 's', status: 'queued', branch: 'main' };
  const at = { location: '/v1/workspaces/game/syncs/s' };
  const longPause = { 'retry-after': '90' };
  const received = (received_objects: number, status = 'transferring') =>
    json(200, { id: 's', status, received_objects, estimated_objects: 2_000 });

  test('is told of only when something has changed, through trouble that passes', async () => {
    const server = await startOtherServer(
      inTurn(started, received(0), received(0), page(503), received(2_000, 'completed')),
    );
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '5m', retries: '0' } });
    expect(result.conclusion).toBe('success');
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "The sync of main in game is pending, about 2,000 objects to receive.
      The sync is transferring, 0 of about 2,000 objects received.
      503 Service Unavailable 503 Service Unavailable nginx/1.27.0 (GET /v1/workspaces/game/syncs/s: 503 Service Unavailable).
      The branch main of game is synced: completed after <duration>, 2,000 objects received."
    `);
    expect(result.outputs).toMatchObject({ status: 'completed', sync_id: 's', estimated_objects: '2000' });
  });

  test('without a status resource cannot be waited for, and that is said', async () => {
    const server = await startOtherServer(json(202, { sync_id: 's', status: 'queued', branch: 'main' }));
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '5m' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.outputs).toEqual({ sync_id: 's', status: 'queued', branch: 'main' });
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "The sync of main in game is queued.
      ##[error]The sync of main was started, but it cannot be waited for. The service names no address where the sync can be followed. Remove \`wait\`, or use a service that offers the status of a sync."
    `);
    expect(server.requests).toHaveLength(1);
  });

  test('without a status resource may be triggered', async () => {
    const server = await startOtherServer(json(202, { sync_id: 's', status: 'queued', branch: 'main' }));
    const job = await jobAt(server.baseUrl);
    expect((await job.run({ with: { operation: 'sync', branch: 'main' } })).conclusion).toBe('success');
  });

  test.each([
    ['when it started the sync', [json(202, queued, { ...at, ...longPause })]],
    ['with the status', [json(202, queued, at), json(200, { status: 'running' }, longPause)]],
    ['with a refusal', [json(202, queued, at), nothing(429, longPause)]],
  ] as const)(
    'that asked for a long pause %s is looked at once more before a short wait is over',
    async (_, answers) => {
      const ended = json(200, { status: 'succeeded', received_objects: 7 });
      const server = await startOtherServer(inTurn(answers[0], ...answers.slice(1), ended));
      const job = await jobAt(server.baseUrl);
      const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '2s' } });
      expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'succeeded', sync_id: 's' } });
      expect(server.requests).toHaveLength(answers.length + 1);
    },
  );

  test('that still refuses at the last look fails the step, with what it says', async () => {
    const server = await startOtherServer(inTurn(started, nothing(429, { 'retry-after': '3600' })));
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '2s' } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'pending', sync_id: 's' } });
    expect(result.annotations.map(({ message }) => stable(message))).toMatchInlineSnapshot(`
      [
        "The sync of main was not seen to end within 2s: when it was last seen it was pending. Asking again failed: The service refused the request. The service asks to wait for 1 h, and less time is left (GET /v1/workspaces/game/syncs/s: 429 Too Many Requests). The service goes on with it. Raise \`wait\` to wait longer.",
      ]
    `);
    expect(server.requests).toHaveLength(3);
  });

  test('that falls silent does not hold the step beyond its wait', async () => {
    const server = await startOtherServer(inTurn(json(202, queued, at), silence));
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '2s', 'request-timeout': '30s' } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'queued', sync_id: 's' } });
    // Far below the limit of one request, and far above what a busy machine needs to start and end a process.
    expect(result.durationMs).toBeLessThan(15_000);
    // One look that hung, and the last.
    expect(server.requests).toHaveLength(3);
  });

  test('that takes longer than the wait fails the step, with what is known', async () => {
    const server = await startOtherServer(inTurn(started, received(700)));
    const job = await jobAt(server.baseUrl);
    const result = await job.run({ with: { operation: 'sync', branch: 'main', wait: '1s' } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'transferring', sync_id: 's' } });
    expect(result.annotations.map(({ message }) => stable(message))).toMatchInlineSnapshot(`
      [
        "The sync of main has not ended within 1s: it is transferring, 700 of about 2,000 objects received. The service goes on with it. Raise \`wait\` to wait longer.",
      ]
    `);
  });
});

describe('the branch', () => {
  const syncs = () =>
    startOtherServer((response, request) => {
      json(202, { sync_id: 's', status: 'queued', ...JSON.parse(request.body) })(response, request);
    });

  test.each([
    ['a push', pushEvent('release/1.0'), 'release/1.0'],
    ['a pull request', pullRequestEvent({ number: 7, head: 'topic/x' }), 'topic/x'],
  ])('of %s is synced where none is named', async (_name, event, branch) => {
    const server = await syncs();
    const job = await jobAt(server.baseUrl, { event });
    const result = await job.run({ with: { operation: 'sync' } });
    expect(result.outputs).toMatchObject({ branch });
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ branch }]);
  });

  test('has to be named in a run of a tag, before any request', async () => {
    const server = await syncs();
    const job = await jobAt(server.baseUrl, { event: tagEvent('v1.0') });
    const result = await job.run({ with: { operation: 'sync' } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {}, summary: '' });
    expect(result.log).toBe('##[error]Input `branch` is missing. The run is not on a branch: name the branch to sync.');
    expect(server.requests).toEqual([]);
  });
});

test('every request names the run, with its attempt, and has nothing in its body but what the interface knows', async () => {
  const server = await startOtherServer(json(202, { sync_id: 's', status: 'queued', branch: 'main' }));
  const job = await jobAt(server.baseUrl, { run: { runId: '77', runAttempt: '3' } });
  await job.run({ with: { operation: 'sync', branch: 'main' } });
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    url: '/v1/workspaces/game/sync',
    headers: {
      referer: 'https://github.com/octo-games/dragon/actions/runs/77/attempts/3',
      authorization: 'Bearer wsa_of_another_service',
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'user-agent': expect.stringMatching(/^workspace-automation\/\d/),
    },
    body: '{"branch":"main"}',
  });
});
