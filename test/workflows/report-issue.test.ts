import { readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import { readWorkflow } from '../support/workflow/workflow-file.ts';

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

test.each([
  ['probe.yml', 'probe', 'The probe of the published action fails'],
  ['nightly.yml', 'soak', 'The nightly tests fail'],
])('failures of %s share one issue, which the next success closes', async (file, tested, title) => {
  const workflow = await readWorkflow(file);
  const folder = temporaryFolder();
  await writeFile(join(folder, 'gh'), gh, { mode: 0o755 });
  await writeFile(join(folder, 'issues'), JSON.stringify([{ number: 3, title: `${title} on my runner` }]));
  const report = async (result: 'success' | 'failure' | 'cancelled') => {
    await writeFile(join(folder, 'calls'), '');
    const ended = await runWorkflowJob({
      workflow,
      job: 'report',
      needs: { [tested]: { result } },
      uses: {
        'actions/checkout': async ({ job }) => {
          await symlink(join(dirname(ourActionFile), '.ci'), join(job.folders.workspace, '.ci'));
          return undefined;
        },
      },
      run: { repository: 'octo-games/dragon', runId: '7' },
      env: { PATH: [folder, process.env['PATH']].join(delimiter) },
    });
    expect(ended.result, ended.log).toBe(result === 'cancelled' ? 'skipped' : 'success');
    return (await readFile(join(folder, 'calls'), 'utf8')).split('\n').slice(1, -1);
  };
  const url = 'https://github.com/octo-games/dragon/actions/runs/7';

  expect(await report('success')).toEqual([]);
  expect(await report('failure')).toEqual([`issue create --title ${title} --body The last failure: ${url}`]);
  expect(await report('failure')).toEqual([`issue edit 9 --body The last failure: ${url}`]);
  expect(await report('cancelled')).toEqual([]);
  expect(await report('success')).toEqual([`issue close 9 --comment It succeeds again: ${url}`]);
  expect(await report('success')).toEqual([]);
});
