import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import {
  type GitHubApi,
  type GitHubApiOptions,
  notAccessible,
  notFound,
  startGitHubApi,
} from '../support/other-servers/github-api.ts';
import { createHistory, type GitHubFile } from '../support/other-servers/github-history.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { page as htmlPage, json, nothing } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { pullRequestEvent, pushEvent } from '../support/runner/github-context.ts';
import type { Job } from '../support/runner/job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { selfSigned } from '../support/self-signed.ts';
import { lockedIn, openScene, type SceneJobOptions } from './scene.ts';

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

const ofPull = (...files: readonly GitHubFile[]): GitHubApiOptions => ({ pulls: { 7: files } });

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
    expect(result.log).toContain('\n##[group]1 lock in ');
    expect(result.annotations[1]?.message).toMatch(
      /^Content\/Hero\.uasset is held by grace until .*\/actions\/runs\/7, since .*\.$/,
    );
    expect(targetsOf(api)).toEqual(['GET pulls/7', 'GET pulls/7/files?per_page=100&page=1']);
  });

  const impossible = ['a\\b', 'tab\there', 'x'.repeat(1_025)].map(modified);

  test.each<[string, readonly GitHubFile[], readonly string[], readonly string[]]>([
    ['exclude files that cannot be locked', impossible, ['a'], []],
    ['are compared in normalized form', [modified('Cafe\u0301.uasset')], ['Caf\u00e9.uasset'], ['Caf\u00e9.uasset']],
  ])('%s', async (_, files, locked, expected) => {
    const { run } = await guard(ofPull(...files), { locked });
    const result = await run();
    expect(lockedIn(result), result.log).toEqual(expected);
    expect(result.conclusion).toBe(expected.length > 0 ? 'failure' : 'success');
  });
});

test('fails if the list of locks may be incomplete, unless `fail-if-locked` is false', async () => {
  const service = await startOtherServer(json(200, { locks: [{ path: 'b' }, 7] }));
  const { run } = await guard(ofPull(modified('a')), { env: { WORKSPACE_BASE_URL: service.baseUrl } });
  const result = await run();
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(result.outputs).not.toHaveProperty('status');
  expect(result.log).toMatch(/##\[error\]The list of locks may be incomplete: 1 of its entries could not be read\./);
  const tolerant = await run({ 'fail-if-locked': 'false' });
  expect(tolerant).toMatchObject({ conclusion: 'success', outputs: { status: 'free' } });
});

test('the files of a push are those that differ between its commits', async () => {
  const history = createHistory();
  const before = history.commit(new Map(Object.entries({ a: '1', b: '1' })));
  const after = history.commit(new Map(Object.entries({ a: '1', b: '2' })), before);
  const event = pushEvent('topic', { before, after, repository: { default_branch: 'main' } });
  const result = await (await guard({ history }, { locked: ['a', 'b'], event })).run();
  expect(lockedIn(result), result.log).toEqual(['b']);
  expect(result.log).toMatch(/Files changed by the push to topic \(0000001 to 0000002\) of octo-games\/dragon: 1\./);
  const { log } = await (await guard({ history: createHistory() }, { event })).run();
  expect(log).toContain('leave `github-token` out. Or the commit before the push no longer exists,');
});

type Instead = NonNullable<GitHubApiOptions['instead']>;

const always =
  (response: Answer): Instead =>
  () =>
    response;

describe('GitHub', () => {
  test.each<[string, Answer, RegExp]>([
    ['rejects the token', notAccessible, /give the job the permission `pull-requests: read`, and leave/i],
    ['does not show the pull request', notFound, /, and leave `github-token` out \(/],
    ['keeps failing', htmlPage(502), /, 2 attempts\)/],
  ])('fails the check if it %s', async (_, response, words) => {
    const { run } = await guard({ ...ofPull(modified('a')), instead: always(response) });
    const result = await run({ retries: '1' });
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
    expect(result.log).toMatch(words);
  });

  test('cannot send the token to another server by a redirect, or a link to the next page', async () => {
    const elsewhere = await startOtherServer(json(200, []));
    const there = `${elsewhere.origin}/x`;
    const redirect = always(nothing(301, { location: there }));
    const redirected = await (await guard({ ...ofPull(modified('a')), instead: redirect })).run();
    expect(redirected).toMatchObject({ conclusion: 'failure', log: expect.stringContaining('would expose the token') });
    const link = json(200, [modified('a')], { link: `<${there}>; rel="next"` });
    const instead: Instead = ({ url }) => (url.includes('/files') ? link : undefined);
    const linked = await (await guard({ ...ofPull(modified('a'), modified('b')), instead })).run();
    expect(linked).toMatchObject({ conclusion: 'failure', log: expect.stringContaining('but lists 1') });
    expect(elsewhere.requests).toEqual([]);
  });
});

test('reads all pages from GitHub Enterprise Server', async () => {
  const { api, run } = await guard(
    { ...ofPull(...numbered(150)), base: '/api/v3' },
    { locked: ['Content/Maps/149.umap'] },
  );
  expect(lockedIn(await run())).toEqual(['Content/Maps/149.umap']);
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
  expect(lockedIn(await run({}, { NODE_EXTRA_CA_CERTS: authority }))).toEqual(['a']);
  const authorization = `Basic ${Buffer.from('ada:se:cret').toString('base64')}`;
  expect(new Set(proxy.asked.map((asked) => JSON.stringify(asked)))).toEqual(
    new Set([JSON.stringify({ target: `${name}:${api.port}`, authorization })]),
  );
  expect(proxy.others).toEqual([]);
  for (const { headers } of api.requests) expect(headers).not.toHaveProperty('proxy-authorization');
});
