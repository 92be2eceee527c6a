import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRepository, type Repository } from '../support/git-repository.ts';
import { stable, stableAll } from '../support/stable.ts';
import { openScene } from './scene.ts';

const scene = openScene();
let folder: string;
let remote: Repository;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'branches-e2e-'));
  remote = createRepository(folder);
  remote.commit({ branch: 'main', files: { a: 'a' } });
  remote.git('branch', 'release/1.0', 'main');
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

test('the branches of a workspace are listed', async () => {
  const workspace = await scene.service.workspace(remote.path);
  const job = await scene.job({ workspace });
  const result = await job.run({ with: { operation: 'list-branches' } });
  expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [], state: {} });
  expect(stableAll(result.outputs)).toMatchInlineSnapshot(`
    {
      "branches": "[{"name":"main","head":"<commit>","synced_head":null,"synced_at":null,"default":true},{"name":"release/1.0","head":"<commit>","synced_head":null,"synced_at":null,"default":false}]",
      "count": "2",
      "status": "ok",
    }
  `);
  expect(stable(result.log)).toMatchInlineSnapshot(`
    "##[group]The workspace <workspace> has 2 branches.
      main
      release/1.0
    ##[endgroup]"
  `);
  expect(stable(result.summary)).toMatchInlineSnapshot(`
    "<h3>Workspace: list-branches</h3>
    <p>The workspace <workspace> has 2 branches.</p>
    <table>
    <tr><th>Branch</th><th>Head</th><th>Synced</th></tr>
    <tr><td>main</td><td><commit></td><td></td></tr>
    <tr><td>release/1.0</td><td><commit></td><td></td></tr>
    </table>

    "
  `);
});

test('a workspace that there is not fails the step', async () => {
  const job = await scene.job({ workspace: 'nowhere' });
  const result = await job.run({ with: { operation: 'list-branches' } });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(stable(result.log)).toMatchInlineSnapshot(
    `"##[error]There is no workspace "nowhere" that this token can see (GET /v1/workspaces/nowhere/branches: 404 Not Found, request id <request>)."`,
  );
  expect(stable(result.summary)).toMatchInlineSnapshot(`
    "<h3>Workspace: list-branches</h3>
    <p>There is no workspace &quot;nowhere&quot; that this token can see (GET /v1/workspaces/nowhere/branches: 404 Not Found, request id <request>).</p>

    "
  `);
});
