import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pullRequestEvent } from '../support/runner/github-context.ts';
import { putActionInto } from '../support/workflow/checkouts.ts';
import { runWorkflowJob, startWorkflowJob, type WorkflowJobOptions } from '../support/workflow/job-runner.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';

type Options = Omit<WorkflowJobOptions, 'workflow'>;

const withSteps = (steps: string, head = 'on: push', ofJob = ''): string =>
  `${head}\njobs:\n  build:\n    runs-on: ubuntu-latest\n${ofJob}    steps:\n${steps.replaceAll(/^/gm, '      ')}`;

const run = (text: string, options: Options = {}) => runWorkflowJob({ ...options, workflow: parseWorkflow(text) });
const runSteps = (steps: string, options: Options = {}) => run(withSteps(steps), options);

describe('expressions', () => {
  test('can use the contexts, and their results are not evaluated again', async () => {
    const { log } = await runSteps(
      `- run: echo "$A | $B | $C | $D | $E"
  env:
    A: \${{ github.event.number }} of \${{ github.repository }} by \${{ github.actor }}
    B: \${{ matrix.asset || 'none' }}, \${{ format('{0}}}', vars.mark) }}
    C: \${{ needs.plan.outputs.text }}
    D: \${{ runner.temp == env.ROOT && 'no' || 'other' }} \${{ job.workflow_sha }}
    E: \${{ github.event.missing.deeper }}`,
      {
        event: pullRequestEvent({ number: 7, head: 'topic' }),
        run: { repository: 'octo-games/hydra', actor: 'grace' },
        matrix: { asset: 'Hero' },
        vars: { mark: '{' },
        needs: { plan: { result: 'success', outputs: { text: `\${{ github.token }} $(id) "` } } },
        contexts: { job: { workflow_sha: 'abc' } },
      },
    );
    expect(log).toBe(`7 of octo-games/hydra by grace | Hero, {} | \${{ github.token }} $(id) " | other abc | `);
  });
});

describe('a variable', () => {
  test('is taken from the step, then GITHUB_ENV, then the job, then the workflow', async () => {
    const { log } = await run(
      withSteps(
        `- run: |
    echo "$A $B $C $D"
    echo "C=exported" >> "$GITHUB_ENV"
    echo "D=exported" >> "$GITHUB_ENV"
- run: echo "$A $B $C $D $E"
  env:
    D: step
    E: \${{ env.A }}-\${{ env.C }}`,
        `on: push\nenv: { A: workflow, B: workflow, C: workflow, D: workflow }`,
        `    env: { B: job, C: "\${{ format('job{0}', 1) }}", D: job }\n`,
      ),
    );
    expect(log.split('\n')).toEqual(['workflow job job1 job', 'workflow job exported step workflow-exported']);
  });
});

describe('a script', () => {
  test.each([
    ['stops at an error without a shell, but not at one within a pipe', '', 'one\ntwo', 'failure'],
    ['stops at an error within a pipe with bash', '\n  shell: bash', 'one', 'failure'],
    ['runs as its custom shell says', '\n  shell: bash {0}', 'one\ntwo\nthree', 'success'],
  ])('%s', async (_, shell, log, conclusion) => {
    const { steps } = await runSteps(
      `- run: |\n    echo one\n    false | cat\n    echo two\n    false\n    echo three${shell}`,
    );
    expect(steps).toMatchObject([{ log, conclusion }]);
  });
});

describe('conditions', () => {
  test('require success unless they contain a status function', async () => {
    const { steps, result } = await runSteps(
      `- { id: bad, run: exit 3 }
- { name: plain, run: echo }
- { name: true, if: true, run: echo }
- { name: "contains success", if: "contains('success', 'success')", run: echo }
- { name: always, if: always(), run: echo }
- { name: failure, if: "\${{ failure() && steps.bad.outcome == 'failure' }}", run: echo }
- { name: cancelled, if: cancelled(), run: echo }
- { name: not, if: "!cancelled()", run: echo }
- { name: status, if: "always() && job.status != 'failure'", run: echo }`,
    );
    expect(Object.fromEntries(steps.slice(1).map(({ name, conclusion }) => [name, conclusion]))).toEqual({
      plain: 'skipped',
      true: 'skipped',
      'contains success': 'skipped',
      always: 'success',
      failure: 'success',
      cancelled: 'skipped',
      not: 'success',
      status: 'skipped',
    });
    expect(result).toBe('failure');
  });
});

describe('the action of a step', () => {
  const lock = '  with: { operation: nonsense }';

  test('must exist when its step starts, and its post when the job ends', async () => {
    const put = async ({ job }: { job: { folders: { workspace: string } } }) => {
      const folder = join(job.folders.workspace, 'tools');
      await mkdir(folder);
      await putActionInto(folder);
      return undefined;
    };
    const steps = `- uses: ./tools\n${lock}`;
    expect((await runSteps(steps)).log).toContain("Can't find 'action.yml'");
    const gone = await runSteps(`- uses: octo-org/put@v1\n${steps}\n  continue-on-error: true\n- run: rm -r tools`, {
      uses: { 'octo-org/put': put },
    });
    expect(gone).toMatchObject({ result: 'failure', posts: [{ conclusion: 'failure' }] });
  });
});

describe('a cancelled job', () => {
  test('ends the running step, and continues with the steps that always run', async () => {
    const running = await startWorkflowJob({
      workflow: parseWorkflow(
        withSteps(
          `- { id: long, run: "echo ready; exec sleep 60" }
- { name: next, run: echo }
- { name: always, if: always(), run: echo }
- { name: cancelled, if: cancelled(), run: echo }
- { name: failure, if: failure(), run: echo }`,
        ),
      ),
    });
    await (await running.begun('long')).waitForLog('ready');
    const { result, steps } = await running.cancel();
    expect(result).toBe('cancelled');
    expect(steps.map(({ conclusion }) => conclusion)).toEqual([
      'cancelled',
      'skipped',
      'success',
      'success',
      'skipped',
    ]);
  });
});
