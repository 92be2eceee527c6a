import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import {
  type GitHubApi,
  type GitHubApiOptions,
  notAccessible,
  startGitHubApi,
} from '../support/other-servers/github-api.ts';
import { createHistory, type GitHubFile, type History, type Tree } from '../support/other-servers/github-history.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { page as htmlPage, json, nothing } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { type JobEvent, pullRequestEvent, pushEvent } from '../support/runner/github-context.ts';
import type { Job } from '../support/runner/job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { selfSigned } from '../support/self-signed.ts';
import { openScene, type SceneJobOptions } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene();

const modified = (filename: string): GitHubFile => ({ filename, status: 'modified' });
const numbered = (many: number): readonly GitHubFile[] =>
  Array.from({ length: many }, (_, number) => modified(`Content/Maps/${number}.umap`));

const pullRequest = pullRequestEvent({ number: 7, head: 'topic' });

type Texts = Readonly<Record<string, string>>;

interface Guard {
  readonly api: GitHubApi;
  readonly job: Job;
  run(given?: Texts, env?: Texts): Promise<StepResult>;
}

interface GuardOptions extends SceneJobOptions {
  readonly locked?: readonly string[];
  /** API URL for the run, if it is not that of GitHub itself. */
  readonly apiUrl?: (api: GitHubApi) => string;
}

/** A run of the event on a GitHub with these options. In its workspace, grace holds a lock on each of the paths. */
async function guard(
  options: GitHubApiOptions,
  { event = pullRequest, locked = [], apiUrl = (api) => api.apiUrl, ...jobOptions }: GuardOptions = {},
): Promise<Guard> {
  const workspace = await scene.service.workspace();
  for (const path of locked) await scene.lock(workspace, path);
  const api = await startGitHubApi(options);
  const job = await scene.job({ workspace, event, run: { apiUrl: apiUrl(api) }, ...jobOptions });
  const always = { operation: 'list-locks', 'changed-files': 'true', 'fail-if-locked': 'true' };
  return { api, job, run: (given = {}, env = {}) => job.run({ with: { ...always, ...given }, env }) };
}

const ofPull = (...files: readonly GitHubFile[]): GitHubApiOptions => ({ pulls: { 7: { files } } });

const pathsIn = (result: StepResult): readonly string[] =>
  JSON.parse(result.outputs['locks'] ?? '[]').map(({ path }: { readonly path: string }) => path);

const targetsOf = ({ requests }: GitHubApi): readonly string[] =>
  requests.map(({ method, url }) => `${method} ${url.replace('/repos/octo-games/dragon/', '')}`);

describe('the files of a pull request', () => {
  test('each locked one gets an annotation with the holder and the expiry of its lock', async () => {
    const { api, run } = await guard(ofPull(modified('Content/Hero.uasset'), modified('Content/Free.uasset')), {
      locked: ['Content/Hero.uasset', 'Content/Other.uasset'],
    });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: { status: 'locked', count: '1' } });
    expect(result.annotations.map(({ file, title }) => [title, file])).toEqual([
      [undefined, undefined],
      ['Locked', 'Content/Hero.uasset'],
    ]);
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "Pull request #7 of octo-games/dragon changes 2 files.
      ##[group]1 lock in <workspace>, among 2 files of pull request #7.
        Content/Hero.uasset is held by grace until <clock> (<distance>), locked in https://github.com/octo-games/dragon/actions/runs/7
      ##[endgroup]
      ##[error]1 file is locked, and \`fail-if-locked\` is set. Once it is released, run this job again: "Re-run jobs", then "Re-run failed jobs".
      ##[error]Content/Hero.uasset is held by grace until <clock> (<distance>), locked in https://github.com/octo-games/dragon/actions/runs/7."
    `);
    expect(targetsOf(api)).toEqual(['GET pulls/7', 'GET pulls/7/files?per_page=100', 'GET pulls/7']);
  });

  const renamed: GitHubFile = { filename: 'new', status: 'renamed', previous_filename: 'old' };
  const impossible = ['a\\b', 'tab\there', 'x'.repeat(1_025)].map(modified);

  test.each<[string, readonly GitHubFile[], readonly string[], readonly string[]]>([
    ['include both names of a renamed file', [renamed], ['old', 'new'], ['new', 'old']],
    [
      'include the files of all pages',
      numbered(250),
      ['Content/Maps/0.umap', 'Content/Maps/249.umap', 'other'],
      ['Content/Maps/0.umap', 'Content/Maps/249.umap'],
    ],
    ['exclude files that cannot be locked', impossible, ['a'], []],
    ['are compared in normalized form', [modified('Cafe\u0301.uasset')], ['Caf\u00e9.uasset'], ['Caf\u00e9.uasset']],
  ])('%s', async (_, files, locked, expected) => {
    const { run } = await guard(ofPull(...files), { locked });
    const result = await run();
    expect(pathsIn(result), result.log).toEqual(expected);
    expect(result.conclusion).toBe(expected.length > 0 ? 'failure' : 'success');
  });

  test('fail the check if the list of locks may be incomplete, and only GET requests are sent', async () => {
    const service = await startOtherServer(json(200, { locks: [{ path: 'b' }, 7] }));
    const { api, run } = await guard(ofPull(modified('a')), { env: { WORKSPACE_BASE_URL: service.baseUrl } });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.outputs).not.toHaveProperty('status');
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "Pull request #7 of octo-games/dragon changes 1 file.
      ##[warning]The list of locks may be incomplete: 1 of its entries could not be read.
      No lock was found in <workspace>, among 1 file of pull request #7, but the list may be incomplete.
      ##[error]The list of locks may be incomplete: 1 of its entries could not be read. With \`fail-if-locked\`, the step succeeds only if the list is complete."
    `);
    expect(await run({ 'fail-if-locked': 'false' })).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'free' },
    });
    const methods = [...api.requests, ...service.requests].map(({ method }) => method);
    expect([...new Set(methods)]).toEqual(['GET']);
  });
});

const none = '0'.repeat(40);
const gone = '1'.repeat(40);

const push = (before: string, after: string, others: object = {}): JobEvent =>
  pushEvent('topic', { before, after, repository: { default_branch: 'main' }, ...others });

const tree = (files: Readonly<Record<string, string>>): Tree => new Map(Object.entries(files));

describe('the files of a push or merge group', () => {
  /** The commits `root`, `ours` and `theirs`. The last two are children of the first. */
  function fork(history: History) {
    const root = history.commit(tree({ a: '1', b: '1', c: '1' }));
    const theirs = history.commit(tree({ a: '2', b: '1', c: '1' }), root);
    return { root, theirs, ours: history.commit(tree({ a: '1', b: '2', c: '1' }), root) };
  }

  test.each<[string, (commits: ReturnType<typeof fork>) => JobEvent, readonly string[], RegExp]>([
    [
      'include the files of the push',
      ({ root, ours }) => push(root, ours),
      ['b'],
      /The push to topic \(0000001 to 0000003\) of octo-games\/dragon changes 1 file\./,
    ],
    [
      'include files that a force push discards',
      ({ theirs, ours }) => push(theirs, ours, { forced: true }),
      ['a', 'b'],
      /changes 2 files/,
    ],
    ['are empty for a deleted branch', () => push(gone, none, { deleted: true }), [], /^Nothing is locked|0 files/m],
  ])('%s', async (_, eventOf, expected, words) => {
    const history = createHistory();
    const commits = fork(history);
    const { run } = await guard(
      { history, branches: { main: commits.theirs } },
      { locked: ['a', 'b', 'c'], event: eventOf(commits) },
    );
    const result = await run();
    expect(pathsIn(result), result.log).toEqual(expected);
    expect(result.log).toMatch(words);
  });
});

type Instead = NonNullable<GitHubApiOptions['instead']>;

const always =
  (response: Answer): Instead =>
  () =>
    response;
const ofList =
  (responseTo: (url: string, host: string | undefined) => Answer): Instead =>
  ({ url, headers }) =>
    url.includes('/files') ? responseTo(url, headers.host) : undefined;

describe('GitHub', () => {
  test.each<[string, Answer, RegExp]>([
    ['rejects the token', notAccessible, /give the job the permission `pull-requests: read`, under/i],
    ['keeps failing', htmlPage(502), /, 2 attempts\)/],
  ])('fails the check if it %s', async (_, response, words) => {
    const { run } = await guard({ ...ofPull(modified('a')), instead: always(response) });
    const result = await run({ retries: '1' });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
    expect(result.log).toMatch(words);
  });

  test.each<[string, (elsewhere: string) => Instead]>([
    [
      'a link to the next page',
      (there) => ofList(() => json(200, [modified('a')], { link: `<${there}>; rel="next"` })),
    ],
    ['a redirect', (there) => always(nothing(301, { location: there }))],
  ])('cannot send the token to another server by %s', async (_, insteadOf) => {
    const elsewhere = await startOtherServer(json(200, []));
    const { run } = await guard({ ...ofPull(modified('a')), instead: insteadOf(`${elsewhere.origin}/x`) });
    const result = await run();
    expect(result.conclusion).toBe('failure');
    expect(result.log).toMatch(/another server.*the token must not be sent there|would expose the token/);
    expect(elsewhere.requests).toEqual([]);
  });
});

test('reads all pages from GitHub Enterprise Server', async () => {
  const { api, run } = await guard(
    { ...ofPull(...numbered(150)), base: '/api/v3' },
    { locked: ['Content/Maps/149.umap'] },
  );
  expect(pathsIn(await run())).toEqual(['Content/Maps/149.umap']);
  expect(api.requests.every(({ url }) => url.startsWith('/api/v3/repos/octo-games/'))).toBe(true);
});

test('GitHub is reached through a TLS tunnel of the proxy, and the service without it', async () => {
  const name = 'api.github.example.test';
  const tls = selfSigned(name);
  const proxy = await startConnectProxy();
  const address = proxy.address.replace('//', '//ada:se%3Acret@');
  const { api, job, run } = await guard(
    { ...ofPull(modified('a')), tls },
    { locked: ['a'], apiUrl: ({ port }) => `https://${name}:${port}`, env: { https_proxy: address } },
  );
  const authority = join(job.folders.temp, 'authority.pem');
  await writeFile(authority, tls.cert);
  expect((await run()).log).toContain('The certificate of the server is not trusted');
  expect(api.requests).toEqual([]);
  expect(pathsIn(await run({}, { NODE_EXTRA_CA_CERTS: authority }))).toEqual(['a']);
  const authorization = `Basic ${Buffer.from('ada:se:cret').toString('base64')}`;
  expect(new Set(proxy.asked.map((asked) => JSON.stringify(asked)))).toEqual(
    new Set([JSON.stringify({ target: `${name}:${api.port}`, authorization })]),
  );
  expect(proxy.others).toEqual([]);
  for (const { headers } of api.requests) expect(headers).not.toHaveProperty('proxy-authorization');
});
