import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Job } from '../../support/runner/job.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { locking, openWithJob, openWithProxy, useService } from './stage.ts';

useService();

test('a token that has expired by the end of the job causes a warning with the lifetime of each lock', async () => {
  const { stage, job } = await openWithJob();
  await job.run(locking('a', { ttl: '20m' }));
  await changeRows(stage.service.storage, 'tokens', { expires_at: 1 }, { id: stage.tokenId });
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
  expect(post?.annotations).toMatchObject([
    {
      level: 'warning',
      message: expect.stringMatching(
        /^Some locks could not be released and will expire\. .* \(DELETE \S+: 401 Unauthorized, request id \S+\)\. .*a \(id .*\(in 20 min\)\): curl .*\.$/,
      ),
    },
  ]);
});

/** A step that changes the environment of all later steps. */
async function exporting(job: Job, name: string, value: string): Promise<void> {
  const main = join(job.folders.temp, `export-${name}.mjs`);
  await writeFile(
    main,
    `import { appendFileSync } from 'node:fs';
     appendFileSync(process.env.GITHUB_ENV, ${JSON.stringify(`${name}=${value}\n`)});`,
  );
  await expect(job.run({ main, post: null })).resolves.toMatchObject({ env: { [name]: value } });
}

test('does not send the token to the service of the locks if the environment now names another service', async () => {
  const { stage, proxy, job } = await openWithProxy();
  await job.run(locking('a'));
  await exporting(job, 'WORKSPACE_BASE_URL', `${stage.service.baseUrl}/v1`);
  const before = proxy.passed.length;
  const [post] = await job.post();
  expect(post?.annotations).toMatchObject([
    {
      level: 'warning',
      message: expect.stringMatching(/^Some locks could not be released and will expire\. .*WORKSPACE_BASE_URL.*curl/),
    },
  ]);
  expect(proxy.passed).toHaveLength(before);
});

test('releases a lock in its own workspace, whatever workspace the environment names at the end of the job', async () => {
  const { stage, job } = await openWithJob();
  await job.run(locking('a'));
  await exporting(job, 'WORKSPACE_ID', await stage.service.workspace());
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

test('reports inputs that are no longer valid at the end of the job, and the remaining locks', async () => {
  const { job } = await openWithJob();
  await job.run(locking('a'));
  await exporting(job, 'WORKSPACE_TOKEN', 'not a token');
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success' });
  expect(post?.annotations).toMatchObject([
    {
      level: 'warning',
      message: expect.stringMatching(
        /^Some locks could not be released and will expire\. .*`token` is not valid.*curl/,
      ),
    },
  ]);
});
