import { beforeAll, expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { createRepository, type Repository } from '../support/git-repository.ts';
import type { OidcIssuer } from '../support/oidc-issuer.ts';
import { startGitHubApi } from '../support/other-servers/github-api.ts';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import { startJobIssuer, trustJobs } from '../support/trusted-jobs.ts';
import { calledWorkflow } from './called.ts';
import { runWorkflowJob, type WorkflowJobOptions } from './job-runner.ts';

const scene = openScene({ publicUrl: (port) => `http://127.0.0.1:${port}`, allowedNetworks: ['127.0.0.0/8'] });
let issuer: OidcIssuer;
let remote: Repository;

beforeAll(async () => {
  remote = createRepository(scene.service.dataFolder);
  remote.commit({ branch: 'main', files: { main: 'main' } });
  issuer = await startJobIssuer();
  await trustJobs(scene.service, issuer, { scopes: ['locks:write', 'sync'] });
  return () => issuer.close();
});

const guarded = async (): Promise<Partial<WorkflowJobOptions>> => {
  const { apiUrl } = await startGitHubApi({
    pulls: { 7: [{ filename: 'Content/Hero.uasset', status: 'modified' }] },
  });
  return { event: pullRequestEvent({ number: 7, head: 'topic' }), run: { apiUrl } };
};

test.each<[string, object, object, () => Promise<Partial<WorkflowJobOptions>>]>([
  ['locked-release.yml', { paths: 'Content/Hero.uasset', run: 'echo ready' }, { status: 'acquired' }, async () => ({})],
  ['sync-branch.yml', {}, { status: 'succeeded' }, async () => ({})],
  ['lock-guard.yml', {}, { status: 'free', count: '0' }, guarded],
])(
  '%s works without a secret if the job can authenticate with its identity',
  async (workflow, inputs, outputs, more) => {
    const workspace = await scene.service.workspace(remote.path);
    const options: WorkflowJobOptions = {
      workflow,
      inputs: { workspace, ...inputs },
      vars: { WORKSPACE_BASE_URL: `${scene.service.baseUrl}/v1` },
      ...calledWorkflow(),
      ...(await more()),
    };
    const job = await runWorkflowJob({ ...options, env: issuer.runnerEnvironment });
    expect(job, job.log).toMatchObject({ result: 'success', workflowOutputs: outputs, annotations: [] });
    expect(await scene.locked(workspace)).toEqual([]);

    const elsewhere = { ...options, inputs: { ...options.inputs, audience: 'https://elsewhere.example' } };
    const refused = await runWorkflowJob({ ...elsewhere, env: issuer.runnerEnvironment });
    expect(refused.log).toContain('The audience of the identity token is https://elsewhere.example');
  },
);
