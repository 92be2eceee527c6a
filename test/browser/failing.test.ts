import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findBrowser } from '../support/browser/find.ts';
import { temporaryFolder } from '../support/git-folders.ts';
import { leaveOut } from '../support/left-out.ts';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const config = fileURLToPath(new URL('failing/vitest.config.ts', import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: string[];
    }[];
  }[];
}

interface Run {
  /** What a test failed of; nothing when it passed. */
  readonly failures: Readonly<Record<string, string>>;
  readonly written: string;
  readonly left: readonly string[];
  readonly folder: string;
}

/** Runs the tests in `failing/` as a run of their own: what fails a test cannot be seen from within it. */
async function runFailing(
  environment: NodeJS.ProcessEnv = {},
): Promise<Run & { readonly statuses: readonly string[] }> {
  const folder = await temporaryFolder();
  const outer = Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$/.test(name));
  const report = join(await temporaryFolder(), 'report.json');
  const args = [vitest, 'run', '--config', config, '--reporter=json', `--outputFile=${report}`];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    env: { ...Object.fromEntries(outer), TMPDIR: folder, ...environment },
  }).catch((error: { stdout: string; stderr: string }) => error);
  const { testResults }: Report = JSON.parse(await readFile(report, 'utf8'));
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    failures: Object.fromEntries(results.map(({ title, failureMessages }) => [title, failureMessages.join('\n')])),
    statuses: results.map(({ status }) => status),
    written: `${stdout}${stderr}`,
    left: await readdir(folder),
    folder,
  };
}

test('what goes wrong in a page fails the test at its end', async (context) => {
  const found = findBrowser();
  if (found.kind === 'missing') return leaveOut(context, found.reason);
  const { failures, left, folder, written } = await runFailing();

  expect(failures).toEqual({
    fine: '',
    expected: '',
    console: expect.stringMatching(/- Console: a complaint \(http:.*\/console\.js:1\)/),
    window: expect.stringMatching(/- Console: a complaint/),
    script: expect.stringMatching(/- Error of a script: Error: a mistake\n.*script\.js/),
    inline: expect.stringMatching(/- Content Security Policy: .*style-src 'self'/),
    markup: expect.stringMatching(/- Content Security Policy: .*TrustedHTML/),
    image: expect.stringMatching(/- Beyond this machine: GET http:\/\/192\.0\.2\.1\/pixel\.png was refused/),
    missing: expect.stringMatching(/- Console: .*status of 404.*missing\.png/),
    assertion: expect.stringMatching(/The test itself failed\./),
  });

  // A picture for each test that failed, and nothing that the browser has left.
  const failed = Object.values(failures).filter((text) => text !== '');
  expect(left.filter((name) => !name.startsWith('workspace-failed-page-'))).toEqual([]);
  expect(globSync('*/1.png', { cwd: folder })).toHaveLength(failed.length);
  expect(written.match(/The page as the failed test left it: .*1\.png/g)).toHaveLength(failed.length);
});
