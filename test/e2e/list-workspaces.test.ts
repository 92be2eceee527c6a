import { expect, test } from 'vitest';
import { json } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { startJob } from '../support/runner/start-job.ts';
import { stable, stableAll } from '../support/stable.ts';
import { openScene } from './scene.ts';

const scene = openScene();

test('the workspaces that the token can see are listed', async () => {
  await scene.service.workspace();
  const job = await scene.job();
  const result = await job.run({ with: { operation: 'list-workspaces' } });
  expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
  expect(stableAll(result.outputs)).toMatchInlineSnapshot(`
    {
      "count": "1",
      "status": "ok",
      "workspaces": "[{"id":"<workspace>","remote":"https://git.example.com/assets.git","created_at":"<time>"}]",
    }
  `);
  expect(stable(result.log)).toMatchInlineSnapshot(`
    "##[group]The token can see 1 workspace.
      <workspace>
    ##[endgroup]"
  `);
  expect(stable(result.summary)).toMatchInlineSnapshot(`
    "<h3>Workspace: list-workspaces</h3>
    <p>The token can see 1 workspace.</p>
    <table>
    <tr><th>Workspace</th></tr>
    <tr><td><workspace></td></tr>
    </table>

    "
  `);
});

test('a token that is not known fails the step', async () => {
  const job = await scene.job({ env: { WORKSPACE_TOKEN: 'wsa_unknown' } });
  const result = await job.run({ with: { operation: 'list-workspaces' } });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(stable(result.log)).toMatchInlineSnapshot(
    `"##[error]The API token is not known here. The token may have expired or been revoked: create a new one, and update the secret (GET /v1/workspaces: 401 Unauthorized, request id <request>)."`,
  );
  expect(stable(result.summary)).toMatchInlineSnapshot(`
    "<h3>Workspace: list-workspaces</h3>
    <p>The API token is not known here. The token may have expired or been revoked: create a new one, and update the secret (GET /v1/workspaces: 401 Unauthorized, request id <request>).</p>

    "
  `);
});

test('no summary is written where none is wanted', async () => {
  const job = await scene.job();
  const result = await job.run({ with: { operation: 'list-workspaces', summary: 'false' } });
  expect(result).toMatchObject({ conclusion: 'success', summary: '' });
});

test('a service that is not there fails the step after the retries, each with its line', async () => {
  const server = await startOtherServer((response) => response.socket?.resetAndDestroy());
  const job = await startJob();
  const result = await job.run({
    with: { operation: 'list-workspaces', 'base-url': server.baseUrl, token: 'wsa_x', retries: '1' },
  });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(stable(result.log)).toMatchInlineSnapshot(`
    "The connection failed: read ECONNRESET (GET /v1/workspaces). Trying again in <duration>.
    ##[error]The connection failed: read ECONNRESET (GET /v1/workspaces, 2 attempts)."
  `);
  expect(server.requests).toHaveLength(2);
});

test('a list that may not be whole is said to be so', async () => {
  const server = await startOtherServer(json(200, { workspaces: ['game', { id: 'film', name: 'Film' }, 7, {}] }));
  const job = await startJob();
  const result = await job.run({ with: { operation: 'list-workspaces', 'base-url': server.baseUrl, token: 'wsa_x' } });
  expect(result.outputs).toEqual({
    status: 'ok',
    count: '2',
    workspaces: '[{"id":"game"},{"id":"film","name":"Film"}]',
  });
  expect(result.annotations).toMatchObject([
    { level: 'warning', message: 'The list of workspaces may not be whole: 2 of its entries could not be read.' },
  ]);
});

test('inputs that are not used are one warning', async () => {
  const job = await scene.job();
  const result = await job.run({ with: { operation: 'list-workspaces', ttl: '2h', path: 'a' } });
  expect(result.conclusion).toBe('success');
  expect(result.annotations).toMatchObject([
    { level: 'warning', message: 'Inputs `path`, `ttl` are not used by `operation: list-workspaces`.' },
  ]);
});
