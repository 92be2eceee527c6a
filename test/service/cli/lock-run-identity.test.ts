import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import type { OidcIssuer } from '../../support/oidc-issuer.ts';
import { runCommand } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startJobIssuer, trustJobs } from '../../support/trusted-jobs.ts';
import { sharedService } from '../http/shared-service.ts';

const service = sharedService(sqlite, {
  publicUrl: (port) => `http://127.0.0.1:${port}`,
  allowedNetworks: ['127.0.0.0/8'],
});
let issuer: OidcIssuer;
let workspace: string;

beforeAll(async () => {
  issuer = await startJobIssuer();
  await trustJobs(service, issuer);
});
afterAll(() => issuer.close());

beforeEach(async () => {
  workspace = await service.workspace();
});

const run = (environment: NodeJS.ProcessEnv) =>
  runCommand(['lock', 'run', 'a', '--', 'sh', '-c', 'cat "$LOCKS_FILE"'], {
    environment: { WORKSPACE_BASE_URL: `${service.baseUrl}/v1`, WORKSPACE_ID: workspace, ...environment },
  });

const audience = (): string => new URL(service.baseUrl).origin;

test('a job of GitHub runs a command under a lock without a stored token', async () => {
  const { code, stdout, stderr } = await run(issuer.runnerEnvironment);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ path: 'a', owner: 'build-bot' }]);
});

test('a job of GitLab uses each of its identity tokens once', async () => {
  const { code, stdout, stderr } = await run({ WORKSPACE_ID_TOKEN: issuer.sign(audience(), issuer.jobClaims) });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ owner: 'build-bot' }]);
});

test('a job of Buildkite asks its agent for an identity token', async () => {
  const folder = join(temporaryFolder(), 'agent');
  await mkdir(folder);
  const jwt = issuer.sign(audience(), issuer.jobClaims);
  const expected = `oidc request-token --audience ${audience()} --claim organization_id --claim pipeline_id`;
  await writeFile(join(folder, 'buildkite-agent'), `#!/bin/sh\n[ "$*" = "${expected}" ] && echo ${jwt}\n`, {
    mode: 0o755,
  });
  const agent = { BUILDKITE_AGENT_ACCESS_TOKEN: 'secret', PATH: `${folder}:${process.env['PATH']}` };
  const { code, stdout, stderr } = await run(agent);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ owner: 'build-bot' }]);
  await writeFile(join(folder, 'buildkite-agent'), '#!/bin/sh\necho "no such job" >&2\nexit 1\n', { mode: 0o755 });
  const failed = await run(agent);
  expect(failed.code).toBe(75);
  expect(failed.stderr).toContain('There is no identity token for this job.');
});

test('without a token or an identity, nothing is sent', async () => {
  expect(await run({})).toMatchObject({ code: 2, stderr: expect.stringContaining('WORKSPACE_TOKEN is not set') });
});
