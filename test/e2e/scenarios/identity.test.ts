import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TrustRule } from '../../../src/service/trust/rules.ts';
import { type FaultProxy, isReleasing, isRenewing, type Passed } from '../../support/fault-proxy.ts';
import type { OidcIssuer } from '../../support/oidc-issuer.ts';
import { json } from '../../support/other-servers/responses.ts';
import type { Job, JobOptions } from '../../support/runner/job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { jobIds, startJobIssuer, trustJobs } from '../../support/trusted-jobs.ts';
import { errorsOf, everythingLeft } from '../scene.ts';
import { entriesOf } from './ledger.ts';
import { hero, locking, openStage, type Stage, useService } from './stage.ts';

const audience = 'https://workspaces.example.com';
const minute = 60_000;

const service = useService({ publicUrl: () => audience, allowedNetworks: ['127.0.0.0/8'] });
let issuer: OidcIssuer;
let rule: TrustRule;

beforeAll(async () => {
  issuer = await startJobIssuer();
  rule = await trustJobs(service, issuer);
  return () => issuer.close();
});

/** A job without a secret, in a new workspace by default. */
async function openJobWithIdentity(options: JobOptions = {}, given?: Stage) {
  const stage = given ?? (await openStage());
  const proxy = await stage.proxy();
  const env = { ...issuer.runnerEnvironment, WORKSPACE_TOKEN: '', ...options.env };
  return { stage, proxy, job: await stage.job({ debug: true, ...options, env }) };
}

const identified = (paths: string | readonly string[], inputs: Readonly<Record<string, string>> = {}) =>
  locking(paths, { audience, ...inputs });

const isExchange = ({ url }: Pick<Passed, 'url'>): boolean => url === '/v1/token';

const tokensOf = (passed: readonly Passed[]): readonly string[] => [
  ...new Set(passed.filter((one) => !isExchange(one)).map(({ headers }) => headers.authorization ?? 'none')),
];

/** Expires all exchanged tokens: the next request with one is rejected. */
const endTokens = () => changeRows(service.storage, 'tokens', { expires_at: 1 }, { trust_rule: rule.id });

/** Secrets of the runner, GitHub and the service. */
const secretsOf = ({ passed }: Pick<FaultProxy, 'passed'>): readonly string[] => [
  issuer.runnerEnvironment.ACTIONS_ID_TOKEN_REQUEST_TOKEN,
  ...issuer.handedOut,
  ...tokensOf(passed).map((bearer) => bearer.replace('Bearer ', '')),
];

async function expectNoSecretLeft(job: Job, proxy: FaultProxy, results: readonly StepResult[]): Promise<void> {
  const secrets = secretsOf(proxy);
  for (const result of results) {
    const left = await everythingLeft(job, result);
    for (const secret of secrets) expect(left).not.toContain(secret);
  }
  for (const { url } of proxy.passed) for (const secret of secrets) expect(url).not.toContain(secret);
}

test('a job without a secret locks, renews and releases with a separate token for each, and reveals none of them', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const { proxy, job } = await openJobWithIdentity({}, stage);
  const before = issuer.handedOut.length;
  const main = await job.run(identified([hero, 'b'], { ttl: '15m', renew: 'true' }));
  const [identity] = issuer.handedOut.slice(before);
  expect(main, main.log).toMatchObject({ conclusion: 'success', annotations: [] });
  const ofMain = tokensOf(proxy.passed);
  const renewals = () => tokensOf(proxy.passed.filter(isRenewing)).filter((token) => !ofMain.includes(token));
  await clock.pass(5 * minute);
  await expect.poll(renewals).toHaveLength(1);
  for (const pid of job.leftProcesses()) {
    const seen = ['environ', 'cmdline'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join('\n');
    for (const secret of secretsOf(proxy)) expect(seen).not.toContain(secret);
  }
  const [lock] = await stage.locks();
  expect(lock).toMatchObject({ owner: 'build-bot' });
  const posts = await job.post();
  expect(posts, posts[0]?.log).toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
  expect(ofMain).toHaveLength(1);
  const ofPost = tokensOf(proxy.passed.filter(isReleasing));
  expect(ofPost).toHaveLength(1);
  expect(new Set([...ofMain, ...renewals(), ...ofPost])).toHaveLength(3);
  expect(proxy.passed.filter(isExchange).map(({ status }) => status)).toEqual([200, 200, 200]);
  await expectNoSecretLeft(job, proxy, [main, ...posts]);
  // Secrets that reach the log in another way are hidden too: the step masks them before their first use.
  const lines = [main, ...posts].flatMap(({ written }) => written);
  for (const secret of [identity, ...ofMain, ...ofPost]) {
    expect(lines).toContain(`::add-mask::${secret?.replace('Bearer ', '')}`);
  }
});

test('a job of twenty minutes keeps and releases its lock with tokens that last fifteen minutes', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const { proxy, job } = await openJobWithIdentity({}, stage);
  const main = await job.run(identified(hero, { ttl: '15m', renew: 'true' }));
  expect(main, main.log).toMatchObject({ conclusion: 'success', annotations: [] });
  const [first] = await stage.locks();
  for (let number = 1; number <= 4; number += 1) {
    await clock.pass(5 * minute);
    // Recorded after the response was read, so the next jump cannot time out a request in progress.
    await expect.poll(() => entriesOf(job).filter(({ kind }) => kind === 'renewed')).toHaveLength(number);
  }
  // The renewal process replaces its token after thirteen minutes.
  const renewing = tokensOf(proxy.passed.filter(isRenewing));
  expect(renewing).toHaveLength(2);
  const check = await job.run({ with: { operation: 'check', audience } });
  expect(check, check.log).toMatchObject({ outputs: { status: 'kept' }, annotations: [] });
  expect((await stage.locks()).map(({ id }) => id)).toEqual([first?.id]);
  const posts = await job.post();
  expect(posts.flatMap(({ annotations }) => annotations)).toEqual([]);
  expect(await stage.locks()).toEqual([]);
  const [ofPost, ...others] = tokensOf(proxy.passed.filter(isReleasing));
  expect(others).toEqual([]);
  expect(renewing).not.toContain(ofPost);
  // No expired token was sent.
  expect(proxy.passed.filter(({ status }) => status === 401)).toEqual([]);
});

test('a token that expires in the middle of a step is replaced while the step waits for a path, and when the post-step releases the locks', async () => {
  const { stage, proxy, job } = await openJobWithIdentity();
  await stage.takenByGrace('b');
  const step = await job.step(identified([hero, 'b'], { wait: '10m' }));
  await step.waitForLog('is held by');
  await endTokens();
  await stage.release('b');
  expect(await step.finished).toMatchObject({ conclusion: 'success', outputs: { acquired: 'true' } });
  expect(proxy.passed.filter(isExchange)).toHaveLength(2);
  expect(proxy.passed.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(2);

  let ended: Promise<unknown> | undefined;
  proxy.meet((passing) => {
    if (!isReleasing(passing) || passing.path !== hero || ended !== undefined) return undefined;
    ended = endTokens();
    return { kind: 'held-back', until: ended };
  });
  const posts = await job.post();
  expect(posts).toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

describe('a job without a token', () => {
  const listing = { with: { operation: 'list-locks' } };

  test('reports how the operator trusts it if no rule does, and does not reveal its identity token', async () => {
    issuer.jobClaims = { ...issuer.jobClaims, repository_id: '4' };
    try {
      const { proxy, job } = await openJobWithIdentity();
      const result = await job.run({ with: { ...listing.with, audience } });
      expect(errorsOf(result)).toEqual([
        expect.stringMatching(
          new RegExp(
            '^The service did not issue a token to this job\\. invalid_request: .* ' +
              'Its operator adds a rule with: workspace-service trust add\\. The audience of the identity token is https://workspaces\\.example\\.com; .* ' +
              '\\(POST /v1/token: 400 Bad Request.*\\)\\.$',
          ),
        ),
      ]);
      await expectNoSecretLeft(job, proxy, [result]);
    } finally {
      issuer.jobClaims = { ...issuer.jobClaims, ...jobIds };
    }
  });

  test('reports that GitHub rejects the request for an identity token', async () => {
    issuer.behaviour.runner = () => json(403, { message: 'No.' });
    try {
      const { proxy, job } = await openJobWithIdentity();
      const result = await job.run({ with: { ...listing.with, retries: '1', audience } });
      expect(errorsOf(result)).toEqual([
        expect.stringMatching(/^There is no identity token for this job\. No\. Run the job again \(GET /),
      ]);
      expect(proxy.passed).toEqual([]);
    } finally {
      issuer.behaviour.runner = undefined;
    }
  });
});
