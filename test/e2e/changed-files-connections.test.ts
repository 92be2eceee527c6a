import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../service/webhooks/self-signed.ts';
import { json } from '../support/other-servers/answers.ts';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import { jobToken, startGitHubApi } from '../support/other-servers/github-api.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import type { Job } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { StepResult } from '../support/runner/step.ts';

/** A name that only the proxy can find: it leads every tunnel to this machine. */
const name = 'api.github.example.test';
const files = Array.from({ length: 150 }, (_, number) => ({ filename: `${number}`, status: 'modified' as const }));
const pulls = { 7: { files } };
const locks = [{ path: '149', owner: 'grace' }];

/** A run at that GitHub. The service is on this machine, for which no proxy is asked. */
async function jobAt(apiUrl: string, env: Readonly<Record<string, string>>): Promise<Job> {
  const service = await startOtherServer(json(200, { locks }));
  return startJob({
    event: pullRequestEvent({ number: 7, head: 'topic' }),
    run: { apiUrl },
    env: {
      WORKSPACE_BASE_URL: service.baseUrl,
      WORKSPACE_TOKEN: 'wsa_0123456789',
      WORKSPACE_ID: 'game',
      ...env,
    },
  });
}

const guard = (
  job: Job,
  { given = {}, env = {} }: { given?: Record<string, string>; env?: Record<string, string> } = {},
) => job.run({ with: { operation: 'list-locks', 'changed-files': 'true', retries: '0', ...given }, env });

const seesTheLock = (result: StepResult): void =>
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'locked', count: '1' } });

describe('GitHub is reached', () => {
  test.each(['https_proxy', 'HTTPS_PROXY'])('through the proxy in %s, in which nobody can read', async (variable) => {
    const tls = selfSigned(name);
    const proxy = await startConnectProxy();
    const api = await startGitHubApi({ pulls, tls, base: '/api/v3' });
    const job = await jobAt(`https://${name}:${api.port}/api/v3`, {
      [variable]: proxy.address.replace('//', '//ada:se%3Acret@'),
    });
    const authority = join(job.folders.temp, 'authority.pem');
    await writeFile(authority, tls.cert);
    seesTheLock(await guard(job, { env: { NODE_EXTRA_CA_CERTS: authority } }));
    expect(proxy.asked.length).toBeGreaterThan(0);
    for (const { target, authorization } of proxy.asked) {
      expect(target).toBe(`${name}:${api.port}`);
      expect(authorization).toBe(`Basic ${Buffer.from('ada:se:cret').toString('base64')}`);
    }
    expect(proxy.others).toEqual([]);
    expect(api.requests).toHaveLength(4);
    for (const { headers } of api.requests) {
      expect(headers.authorization).toBe(`token ${jobToken}`);
      expect(headers).not.toHaveProperty('proxy-authorization');
    }
  });

  test('through the proxy in http_proxy, where plain http is allowed', async () => {
    const proxy = await startConnectProxy();
    const api = await startGitHubApi({ pulls });
    const job = await jobAt(`http://${name}:${api.port}`, { http_proxy: proxy.address });
    const refused = await guard(job);
    expect(refused.conclusion).toBe('failure');
    expect(refused.log).toContain('plain http would expose the token to everyone on the way.');
    expect(proxy.asked).toEqual([]);
    seesTheLock(await guard(job, { given: { 'allow-http': 'true' } }));
    expect(proxy.asked[0]?.target).toBe(`${name}:${api.port}`);
  });

  test('without the proxy where no_proxy names it', async () => {
    const proxy = await startConnectProxy();
    const job = await jobAt(`https://${name}:1`, { https_proxy: proxy.address, no_proxy: '.example.test' });
    expect((await guard(job)).log).toContain('The connection failed');
    expect(proxy.asked).toEqual([]);
  });
});

describe('it is told', () => {
  test('that GitHub has a certificate that is not trusted', async () => {
    const proxy = await startConnectProxy();
    const api = await startGitHubApi({ pulls, tls: selfSigned(name) });
    const job = await jobAt(`https://${name}:${api.port}`, { https_proxy: proxy.address });
    const result = await guard(job);
    expect(result.conclusion).toBe('failure');
    expect(result.log).toContain('The server cannot be trusted');
    expect(result.log).toContain('NODE_EXTRA_CA_CERTS');
    expect(api.requests).toEqual([]);
  });

  test('that a proxy refuses, without its credentials', async () => {
    const proxy = await startConnectProxy({ manner: 407 });
    const job = await jobAt(`https://${name}:1`, { https_proxy: proxy.address.replace('//', '//ada:geheim@') });
    const result = await guard(job);
    expect(result.conclusion).toBe('failure');
    expect(result.log).toContain('407');
    expect(result.rawLog).not.toContain('geheim');
  });
});
