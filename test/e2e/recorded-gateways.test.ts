import { describe, expect, type TestContext, test } from 'vitest';
import { type FaultProxy, isLocking, isReleasing, isRenewing, type Passing } from '../support/fault-proxy.ts';
import { createRepository } from '../support/git-repository.ts';
import { fasterTime } from '../support/preload.ts';
import type { Job, StepOptions } from '../support/runner/job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { locking, openStage, type Stage, unlocking, useService } from './scenarios/stage.ts';

useService({ allowFileRemotes: true });

/** The response of a gateway instead of the service behind it, as shown in its source. */
interface RecordedResponse {
  readonly gateway: string;
  /** The condition for this response. */
  readonly when: string;
  /** A page of documentation, or a repository with a file or an issue. */
  readonly source: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One of each kind: a refusal in JSON, and an empty success. The model test has pages. */
const recordedResponses: readonly RecordedResponse[] = [
  {
    gateway: 'Kong 3',
    when: 'no route matches, and the body has a request id',
    source: 'Kong/kong, kong/tools/http.lua (get_error_template)',
    status: 404,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      server: 'kong/3.10.0.1-enterprise-edition',
      'x-kong-request-id': '108134052a77553f758cf668b90e4c1d',
      'x-kong-response-latency': '0',
    },
    body: '{\n  "message":"no Route matched with those values",\n  "request_id":"108134052a77553f758cf668b90e4c1d"\n}',
  },
  {
    gateway: 'AWS WAF',
    when: 'it challenges the client',
    source: 'https://docs.aws.amazon.com/waf/latest/APIReference/API_ChallengeAction.html',
    status: 202,
    headers: { server: 'awselb/2.0', 'x-amzn-waf-action': 'challenge', 'content-length': '0' },
    body: '',
  },
];

const hero = 'Content/Hero.uasset';

const isTrigger = ({ method, url }: Passing): boolean => method === 'POST' && url.endsWith('/sync');
const isStatus = ({ method, url }: Passing): boolean => method === 'GET' && url.includes('/syncs/');

/** Runs with a tenth of the pauses between attempts. */
const hurried = (step: StepOptions): StepOptions => ({ ...step, env: { NODE_OPTIONS: fasterTime(10) } });

const syncing: StepOptions = { with: { operation: 'sync', branch: 'main', wait: '10m' } };

/** Fewer responses than a request has attempts, even if each release is sent in two spellings. */
const briefly = 2;

describe.concurrent.each(recordedResponses)('if $gateway answers $status because $when', (response) => {
  test.concurrent('a lock is acquired as soon as the service responds', async (context) => {
    const { stage, job, answers } = await open(context, response);
    answers(isLocking, briefly);
    const step = await job.run(hurried(locking(hero)));
    expect(step.conclusion, step.log).toBe('success');
    const [told] = JSON.parse(step.outputs['locks'] ?? '[]');
    expect(await stage.locks(), step.log).toMatchObject([{ path: hero, id: told.id }]);
    expectNothingWrong(step);
    await expectReleased(stage, job);
  });

  test.concurrent('a renewed lock stays the same lock', async (context) => {
    const { stage, job, proxy, answers } = await open(context, response);
    // The step renews the lock once, then the renewal process does.
    answers(isRenewing, 1);
    await job.run(locking(hero, { renew: 'true', ttl: '12s' }));
    const [first] = await stage.locks();
    const before = proxy.passed.length;
    answers(isRenewing, briefly);
    const isRenewed = () => proxy.passed.slice(before).some((one) => isRenewing(one) && one.status === 200);
    await context.expect.poll(isRenewed).toBe(true);
    expect(await stage.locks()).toMatchObject([{ id: first?.id, fence: first?.fence }]);
    await expectReleased(stage, job);
  });

  test.concurrent('an unlock step reports that it released the lock', async (context) => {
    const { stage, job, answers } = await open(context, response);
    await job.run(locking(hero));
    answers(isReleasing, briefly);
    const step = await job.run(hurried(unlocking({ path: hero })));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    expectNothingWrong(step);
    await expectReleased(stage, job);
  });

  test.concurrent('a post-step names the lock if all responses are from the gateway', async (context) => {
    const { stage, job, answers } = await open(context, response);
    await job.run(hurried(locking(hero)));
    const [lock] = await stage.locks();
    answers(() => true, Number.POSITIVE_INFINITY);
    const [post] = await job.post();
    expect(post?.conclusion, post?.log).toBe('success');
    expect(post?.annotations, post?.log).toMatchObject([
      { level: 'warning', message: expect.stringMatching(`${hero}(.|\n)*${lock?.id}`) },
    ]);
    expect(post?.log).not.toMatch(/already gone|was lost/);
  });

  test.concurrent('a sync is started once, and its end is seen', async (context) => {
    const { job, proxy, answers } = await open(context, response, { hasRemote: true });
    answers((passing) => isTrigger(passing) || isStatus(passing), briefly);
    const step = await job.run(hurried(syncing));
    expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { status: 'succeeded' } });
    const triggered = proxy.passed.filter((one) => isTrigger(one) && one.status === 202);
    // On a busy machine, a request may time out and be repeated with its key.
    const ids = new Set(triggered.map((one) => JSON.parse(one.response).sync_id));
    expect([...ids]).toEqual([step.outputs['sync_id']]);
  });
});

interface Scene {
  readonly stage: Stage;
  readonly job: Job;
  readonly proxy: FaultProxy;
  /** Lets the gateway itself answer this number of matching requests. */
  answers(isMeant: (passing: Passing) => boolean, times: number): void;
}

let remotes = 0;

async function open(
  { onTestFinished }: TestContext,
  { status, headers, body }: RecordedResponse,
  { hasRemote = false } = {},
): Promise<Scene> {
  const stage = await openStage((cleanUp) => onTestFinished(cleanUp));
  const proxy = await stage.proxy();
  let workspace = stage.workspace;
  if (hasRemote) {
    remotes += 1;
    const remote = createRepository(stage.service.dataFolder, `remote-${remotes}.git`);
    remote.commit({ branch: 'main', files: { a: 'a\n' } });
    workspace = await stage.service.workspace(remote.path);
  }
  const { secret } = await stage.service.token({ scopes: ['locks:write', 'sync'] });
  const env = { WORKSPACE_ID: workspace, WORKSPACE_TOKEN: secret };
  const job = await stage.job({ sharesProcesses: true, env });
  // A service that has not shown its marks yet is taken at its word, and so is a gateway in its place.
  for (const step of [locking('Shown.uasset'), unlocking({ path: 'Shown.uasset' })]) await job.run(step);
  return {
    ...{ stage, job, proxy },
    answers(isMeant, times) {
      let left = times;
      proxy.meet((passing) => {
        if (left <= 0 || !isMeant(passing)) return undefined;
        left -= 1;
        return { kind: 'answer', status, headers, body };
      });
    },
  };
}

async function expectReleased(stage: Stage, job: Job): Promise<void> {
  for (const post of await job.post()) {
    expect(post.conclusion, post.log).toBe('success');
    expectNothingWrong(post);
  }
  expect(await stage.locks()).toEqual([]);
}

/** Expects that the step makes no claims about locks that only the service itself can make. */
function expectNothingWrong({ log, annotations }: StepResult): void {
  expect(log).not.toMatch(/already gone|lost|not locked|absent|left alone/i);
  expect(annotations, log).toEqual([]);
}
