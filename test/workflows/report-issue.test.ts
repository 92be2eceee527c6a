import { readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runWorkflowJob } from './job-runner.ts';
import { readWorkflow } from './workflow-file.ts';

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
  ['probe.yml', 'probe', 'The probe of the published action fails', ''],
  ['nightly.yml', 'soak', 'The nightly tests fail', ''],
  ['nightly.yml', 'mutants', 'The nightly tests fail', '8 of 9 mutants were killed.'],
])('failures of %s (%s) share one issue, which the next success closes', async (file, tested, title, survivors) => {
  const workflow = await readWorkflow(file);
  const folder = temporaryFolder();
  await writeFile(join(folder, 'gh'), gh, { mode: 0o755 });
  await writeFile(join(folder, 'issues'), JSON.stringify([{ number: 3, title: `${title} on my runner` }]));
  const report = async (result: 'success' | 'failure' | 'cancelled') => {
    await writeFile(join(folder, 'calls'), '');
    const ended = await runWorkflowJob({
      workflow,
      job: 'report',
      needs: { [tested]: { result, outputs: { survivors } } },
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
  const body = [`The last failure: ${url}`, ...(survivors === '' ? [] : ['', survivors])];
  const told = (command: string) => `${command} --body ${body.join('\n')}`.split('\n');
  expect(await report('failure')).toEqual(told(`issue create --title ${title}`));
  expect(await report('failure')).toEqual(told('issue edit 9'));
  expect(await report('cancelled')).toEqual([]);
  expect(await report('success')).toEqual([`issue close 9 --comment It succeeds again: ${url}`]);
  expect(await report('success')).toEqual([]);
});
