import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedService } from '../service/http/shared-service.ts';
import { sqlite } from '../support/databases.ts';
import type { OidcIssuer } from '../support/oidc-issuer.ts';
import { json } from '../support/other-servers/responses.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { runCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startJobIssuer, trustJobs } from '../support/trusted-jobs.ts';

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

describe('a job of GitLab that takes longer', () => {
  /** A service whose tokens end soon until it has issued `count`. */
  async function exchangingService(count: number) {
    const { secret } = await service.token({ scopes: ['locks:write'] });
    const onward = passOn(service.port);
    const exchanged: (string | null)[] = [];
    const server = await startOtherServer((response, request) => {
      if (!request.url.endsWith('/token')) return onward(response, request);
      exchanged.push(new URLSearchParams(request.body).get('subject_token'));
      const expires_in = exchanged.length < count ? 1 : 900;
      return json(200, { access_token: secret, token_type: 'Bearer', expires_in })(response, request);
    });
    const runWith = (tokens: NodeJS.ProcessEnv, ttl: string, script: string) =>
      runCommand(['lock', 'run', 'a', '--ttl', ttl, '--', 'sh', '-c', script], {
        environment: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_ID: workspace, ...tokens },
      });
    return { exchanged, runWith };
  }

  test('uses its identity tokens in the order of their numbers', async () => {
    const { exchanged, runWith } = await exchangingService(3);
    const tokens = { WORKSPACE_ID_TOKEN_10: 'ten', WORKSPACE_ID_TOKEN_2: 'two', WORKSPACE_ID_TOKEN: 'one' };
    const flag = join(temporaryFolder(), 'flag');
    const running = runWith(tokens, '6s', `until [ -e ${flag} ]; do sleep 0.1; done`);
    await expect.poll(() => exchanged).toHaveLength(3);
    await writeFile(flag, '');
    const { code, stderr } = await running;
    expect(code, stderr).toBe(0);
    expect(exchanged).toEqual(['one', 'two', 'ten']);
  });

  test('loses its locks when it has used them all, and the log says what to do', async () => {
    const { runWith } = await exchangingService(2);
    const { code, stderr } = await runWith({ WORKSPACE_ID_TOKEN: 'one' }, '2s', 'exec sleep 600');
    expect(code).toBe(76);
    expect(stderr).toMatch(/used all its identity tokens \(1\).*WORKSPACE_ID_TOKEN_2/);
  });
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
