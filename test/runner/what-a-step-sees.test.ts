import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { JobOptions, StepOptions } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import { temporaryActionFile, temporaryScripts } from './scripts.ts';

afterEach(() => void vi.unstubAllEnvs());

interface Seen {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly args: readonly string[];
  readonly node: string;
  readonly input: string;
}

const report = `
const seen = { env, folder: process.cwd(), args: process.argv.slice(2), node: process.version, input: fs.readFileSync(0, 'utf8') };
fs.writeFileSync(env.RUNNER_TEMP + '/seen.json', JSON.stringify(seen));
`;

const declared = `inputs:
  Plain-Name:
    description: One without a default.
  with blanks too:
    description: One with a name that is not a variable.
  fallback:
    description: One with a default.
    default: the default
  number:
    description: One with a default that is no text.
    default: 4
  token:
    description: One with an expression.
    default: <\${{ github.token }}>`;

/** Returns the process details that the main script of a step sees. */
async function look(step: StepOptions = {}, job: JobOptions = {}) {
  const scripts = await temporaryScripts();
  const main = await scripts.add('main', report);
  const actionFile = job.actionFile ?? (await temporaryActionFile(scripts, declared));
  const running = await startJob({ ...job, actionFile });
  const result = await running.run({ main, post: null, ...step });
  expect(result.conclusion, result.log).toBe('success');
  const seen: Seen = JSON.parse(await readFile(`${running.folders.temp}/seen.json`, 'utf8'));
  return { ...seen, job: running, result };
}

const inputsOf = (env: Seen['env']) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('INPUT_')));

describe('the inputs of a step', () => {
  test('are the default, or the empty string, if the workflow does not set them', async () => {
    const { env } = await look({}, { expressions: { 'github.token': 'a-token' } });
    expect(inputsOf(env)).toEqual({
      'INPUT_PLAIN-NAME': '',
      INPUT_WITH_BLANKS_TOO: '',
      INPUT_FALLBACK: 'the default',
      INPUT_NUMBER: '4',
      INPUT_TOKEN: '<a-token>',
    });
  });

  test('are passed on unchanged, with names in any case, and an empty one overrides the default', async () => {
    const text = '  not trimmed \n# nor read\n\t';
    const { env, result } = await look({
      with: { 'plain-name': text, 'With Blanks Too': 'x', Fallback: '', token: '' },
    });
    expect(inputsOf(env)).toEqual({
      'INPUT_PLAIN-NAME': text,
      INPUT_WITH_BLANKS_TOO: 'x',
      INPUT_FALLBACK: '',
      INPUT_NUMBER: '4',
      INPUT_TOKEN: '',
    });
    expect(result.annotations).toEqual([]);
  });
});

describe('the environment of a step', () => {
  const set = [
    'CI',
    ...['ACTION', 'ACTIONS', 'ACTION_REF', 'ACTION_REPOSITORY', 'ACTOR', 'ACTOR_ID', 'API_URL', 'BASE_REF', 'ENV'],
    ...['EVENT_NAME', 'EVENT_PATH', 'GRAPHQL_URL', 'HEAD_REF', 'JOB', 'OUTPUT', 'PATH', 'REF', 'REF_NAME'],
    ...['REF_PROTECTED', 'REF_TYPE', 'REPOSITORY', 'REPOSITORY_ID', 'REPOSITORY_OWNER', 'REPOSITORY_OWNER_ID'],
    ...['RETENTION_DAYS', 'RUN_ATTEMPT', 'RUN_ID', 'RUN_NUMBER', 'SERVER_URL', 'SHA', 'STATE', 'STEP_SUMMARY'],
    ...['TRIGGERING_ACTOR', 'WORKFLOW', 'WORKFLOW_REF', 'WORKFLOW_SHA', 'WORKSPACE'],
  ].map((name) => (name === 'CI' ? name : `GITHUB_${name}`));
  const runner = ['ARCH', 'ENVIRONMENT', 'NAME', 'OS', 'TEMP', 'TOOL_CACHE', 'TRACKING_ID', 'WORKSPACE'].map(
    (name) => `RUNNER_${name}`,
  );

  test('contains the variables of the runner, PATH and its own HOME, but none of the tests', async () => {
    vi.stubEnv('SECRET_OF_THE_TESTS', 'x');
    vi.stubEnv('https_proxy', 'http://127.0.0.1:1');
    const { env, job } = await look();
    const names = Object.keys(env).filter((name) => !name.startsWith('INPUT_'));
    // macOS adds a variable to every process.
    expect(names.filter((name) => name !== '__CF_USER_TEXT_ENCODING').toSorted()).toEqual(
      [...set, ...runner, 'HOME', 'PATH'].toSorted(),
    );
    const { folders } = job;
    expect(env).toMatchObject({ HOME: folders.home, PATH: process.env['PATH'], RUNNER_TEMP: folders.temp });
    expect(env).toMatchObject({ GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' });
  });

  test('contains the variables of the job and then of the step, but neither can override those of the runner', async () => {
    const { env } = await look(
      { env: { COLOUR: 'blue', GITHUB_SHA: 'forged', INPUT_FALLBACK: 'forged', GITHUB_ACTIONS: 'false', CI: 'mine' } },
      { env: { COLOUR: 'red', RUNNER_TEMP: '/forged', https_proxy: 'http://127.0.0.1:1', HOME: '/home/ada' } },
    );
    expect(env).toMatchObject({ COLOUR: 'blue', GITHUB_ACTIONS: 'true', INPUT_FALLBACK: 'the default', CI: 'mine' });
    expect(env).toMatchObject({ https_proxy: 'http://127.0.0.1:1', HOME: '/home/ada' });
    expect(env['GITHUB_SHA']).toMatch(/^[0-9a-f]{40}$/);
    expect(env['RUNNER_TEMP']).not.toBe('/forged');
  });
});
