import { readFile, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { pullRequestEvent, tagEvent } from '../support/runner/github-context.ts';
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

/** What a script sees as the main of a step. */
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
  test('are the empty string or the default where the workflow says nothing', async () => {
    const { env } = await look({}, { expressions: { 'github.token': 'a-token' } });
    expect(inputsOf(env)).toEqual({
      'INPUT_PLAIN-NAME': '',
      INPUT_WITH_BLANKS_TOO: '',
      INPUT_FALLBACK: 'the default',
      INPUT_NUMBER: '4',
      INPUT_TOKEN: '<a-token>',
    });
  });

  test('are passed on as they are, whatever the case of the name, and an empty one hides the default', async () => {
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

  test('are passed on with a warning where the action does not declare them', async () => {
    const { env, result } = await look({ with: { fallbak: 'x' } });
    expect(env).toMatchObject({ INPUT_FALLBAK: 'x', INPUT_FALLBACK: 'the default' });
    expect(result.annotations).toMatchObject([{ level: 'warning', by: 'runner' }]);
    expect(result.log).toMatch(/^##\[warning\]Unexpected input\(s\) 'fallbak', valid inputs are \['Plain-Name', /);
  });

  test('can be too large for the operating system, which fails the step, and its post alike', async () => {
    const scripts = await temporaryScripts();
    const main = await scripts.add('main', "say('never')");
    const post = await scripts.add('post', "say('cleaned up')");
    const job = await startJob({ actionFile: await temporaryActionFile(scripts, declared) });
    const result = await job.run({ main, post, env: { TOO_LARGE: 'x'.repeat(3_000_000) } });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: -1, rawLog: '' });
    expect(result.annotations).toMatchObject([
      { level: 'error', message: expect.stringContaining('E2BIG'), by: 'runner' },
    ]);
    await expect(job.nextPost().then((next) => next?.finished)).resolves.toMatchObject({ conclusion: 'failure' });
  });
});

test('an action.yml with an expression in a description, or for another Node, is refused', async () => {
  const scripts = await temporaryScripts();
  const described = await temporaryActionFile(scripts, `inputs:\n  token:\n    description: \${{ secrets.TOKEN }}.`);
  await expect(startJob({ actionFile: described })).rejects.toThrow('an expression in inputs.token.description');
  const actionFile = await temporaryActionFile(scripts, '');
  await writeFile(actionFile, (await readFile(actionFile, 'utf8')).replace('node24', 'node99'));
  await expect(startJob({ actionFile })).rejects.toThrow('Node 99');
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
  const runner = ['ARCH', 'ENVIRONMENT', 'NAME', 'OS', 'TEMP', 'TOOL_CACHE', 'WORKSPACE'].map(
    (name) => `RUNNER_${name}`,
  );

  test('is what the runner sets, PATH and a home of its own, and nothing of the tests', async () => {
    vi.stubEnv('SECRET_OF_THE_TESTS', 'x');
    vi.stubEnv('https_proxy', 'http://127.0.0.1:1');
    const { env, job } = await look();
    const names = Object.keys(env).filter((name) => !name.startsWith('INPUT_'));
    // macOS adds a variable of its own to every process.
    expect(names.filter((name) => name !== '__CF_USER_TEXT_ENCODING').toSorted()).toEqual(
      [...set, ...runner, 'HOME', 'PATH'].toSorted(),
    );
    const { folders } = job;
    expect(env).toMatchObject({ HOME: folders.home, PATH: process.env['PATH'], RUNNER_TEMP: folders.temp });
    expect(env).toMatchObject({ GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' });
  });

  test('has what the job gives, lets a step overrule it, and nobody the runner', async () => {
    const { env } = await look(
      { env: { COLOUR: 'blue', GITHUB_SHA: 'forged', INPUT_FALLBACK: 'forged', GITHUB_ACTIONS: 'false', CI: 'mine' } },
      { env: { COLOUR: 'red', RUNNER_TEMP: '/forged', https_proxy: 'http://127.0.0.1:1', HOME: '/home/ada' } },
    );
    expect(env).toMatchObject({ COLOUR: 'blue', GITHUB_ACTIONS: 'true', INPUT_FALLBACK: 'the default', CI: 'mine' });
    expect(env).toMatchObject({ https_proxy: 'http://127.0.0.1:1', HOME: '/home/ada' });
    expect(env['GITHUB_SHA']).toMatch(/^[0-9a-f]{40}$/);
    expect(env['RUNNER_TEMP']).not.toBe('/forged');
  });

  test('belongs to a process in the workspace, on the Node of action.yml, with nothing to read', async () => {
    const { folder, args, node, input, job } = await look();
    expect({ folder, args, input }).toEqual({ folder: job.folders.workspace, args: [], input: '' });
    expect(node).toMatch(/^v24\./);
  });

  test('names the pull request, its head and its base, and the file with the event', async () => {
    const { env } = await look({}, { event: pullRequestEvent({ number: 7, head: 'art/hero' }) });
    expect(env).toMatchObject({
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_REF_NAME: '7/merge',
      GITHUB_HEAD_REF: 'art/hero',
      GITHUB_BASE_REF: 'main',
    });
    const payload: unknown = JSON.parse(await readFile(env['GITHUB_EVENT_PATH'] ?? '', 'utf8'));
    expect(payload).toMatchObject({ number: 7, pull_request: { head: { ref: 'art/hero' } } });
    const tag = await look({ id: 'lock' }, { event: tagEvent('v1/final'), run: { runId: '5' }, debug: true });
    expect(tag.env).toMatchObject({
      GITHUB_ACTION: 'lock',
      GITHUB_REF_NAME: 'v1/final',
      GITHUB_REF_TYPE: 'tag',
      GITHUB_RUN_ID: '5',
      RUNNER_DEBUG: '1',
    });
  });

  test('has the paths of earlier steps before the others, the latest first', async () => {
    const scripts = await temporaryScripts();
    const add = await scripts.add('add', "fs.appendFileSync(env.GITHUB_PATH, '/tools/a\\n\\n/tools/b\\n/tools/a\\n')");
    const more = await scripts.add('more', "fs.appendFileSync(env.GITHUB_PATH, '/tools/c\\r\\n/tools/b')");
    const show = await scripts.add('show', 'say(env.PATH)');
    const job = await startJob({ actionFile: await temporaryActionFile(scripts, '') });
    await expect(job.run({ main: add, post: null })).resolves.toMatchObject({ paths: ['/tools/b', '/tools/a'] });
    await job.run({ main: more, post: null });
    const { rawLog } = await job.run({ main: show, post: null });
    expect(rawLog).toBe(['/tools/b', '/tools/c', '/tools/a', process.env['PATH']].join(delimiter));
  });
});
