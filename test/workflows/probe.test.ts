import { readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import type { UsesHandler } from '../support/workflow/used-action.ts';
import { readWorkflow, type WorkflowStep } from '../support/workflow/workflow-file.ts';
import { endService } from './end-service.ts';

const workflow = await readWorkflow('probe.yml');

/** The service that the tests built. */
const checkout: UsesHandler = async ({ job }) => {
  for (const name of ['.ci', 'bin']) {
    await symlink(join(dirname(ourActionFile), name), join(job.folders.workspace, name));
  }
  return undefined;
};

async function runProbe(change: (step: WorkflowStep) => WorkflowStep = (step) => step) {
  const { probe } = workflow.jobs;
  if (probe === undefined) throw new Error('There is no job probe.');
  // Still longer than the `ttl`.
  const here = (step: WorkflowStep): WorkflowStep => (step.run === 'sleep 30' ? { ...step, run: 'sleep 12' } : step);
  const steps = probe.steps
    .filter(({ run }) => run !== 'npm ci')
    .map(here)
    .map(change);
  const ended = await runWorkflowJob({
    workflow: { ...workflow, jobs: { probe: { ...probe, steps } } },
    uses: { 'actions/checkout': checkout, 'actions/setup-node': async () => undefined },
  });
  onTestFinished(() => endService(ended.job));
  return ended;
}

test('the probe succeeds if the action keeps its locks and releases them when the job ends', async () => {
  const { result, log } = await runProbe();
  expect(result, log).toBe('success');
});

test('the probe fails if a lock remains after the job', async () => {
  const { result, steps, log } = await runProbe((step) =>
    step.with['operation'] === 'lock'
      ? { ...step, with: { ...step.with, renew: false, ttl: '1h', 'auto-release': false } }
      : step,
  );
  expect(steps.filter(({ conclusion }) => conclusion !== 'success').map(({ name }) => name)).toEqual([
    'Print the log of the service',
  ]);
  expect(result).toBe('failure');
  expect(log).toContain('The lock on Content/Maps/Arena.umap was not released when the job ended.');
});

/** A `gh` for a repository with several issues; one has a similar title. */
const gh = `#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
echo "$*" >>calls
[[ -n $GH_TOKEN ]]
case $2 in
  list) jq --compact-output . issues ;;
  create) printf '[{"number":9,"title":"%s"}]' "$4" >issues ;;
  close) echo '[]' >issues ;;
  edit) ;;
esac
`;

test('failures share one issue, which the next success closes', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'gh'), gh, { mode: 0o755 });
  await writeFile(
    join(folder, 'issues'),
    '[{"number":3,"title":"The probe of the published action fails on my runner"}]',
  );
  const report = async (result: 'success' | 'failure' | 'cancelled') => {
    await writeFile(join(folder, 'calls'), '');
    const ended = await runWorkflowJob({
      workflow,
      job: 'report',
      needs: { probe: { result } },
      run: { repository: 'octo-games/dragon', runId: '7' },
      env: { PATH: [folder, process.env['PATH']].join(delimiter) },
    });
    expect(ended.result, ended.log).toBe(result === 'cancelled' ? 'skipped' : 'success');
    return (await readFile(join(folder, 'calls'), 'utf8')).split('\n').slice(1, -1);
  };
  const url = 'https://github.com/octo-games/dragon/actions/runs/7';

  expect(await report('success')).toEqual([]);
  expect(await report('failure')).toEqual([
    `issue create --title The probe of the published action fails --body The last failure: ${url}`,
  ]);
  expect(await report('failure')).toEqual([`issue edit 9 --body The last failure: ${url}`]);
  expect(await report('cancelled')).toEqual([]);
  expect(await report('success')).toEqual([`issue close 9 --comment It succeeds again: ${url}`]);
  expect(await report('success')).toEqual([]);
});
