import { describe, expect, test } from 'vitest';
import { page as htmlPage, json, nothing } from '../support/other-servers/answers.ts';
import {
  badCredentials,
  type GitHubApi,
  type GitHubApiOptions,
  notAccessible,
  notFound,
  startGitHubApi,
} from '../support/other-servers/github-api.ts';
import { createHistory, type GitHubFile, type Tree } from '../support/other-servers/github-history.ts';
import { type Answer, type SeenRequest, startOtherServer } from '../support/other-servers/other-server.ts';
import { type JobEvent, pullRequestEvent, pushEvent } from '../support/runner/github-context.ts';
import type { StepResult } from '../support/runner/step.ts';
import { forms } from '../support/runs.ts';
import { stable } from '../support/stable.ts';
import { openScene, type SceneJob, type SceneJobOptions } from './scene.ts';

const scene = openScene();

const modified = (filename: string): GitHubFile => ({ filename, status: 'modified' });
const removed = (filename: string): GitHubFile => ({ filename, status: 'removed' });
const renamed = (previous_filename: string, filename: string): GitHubFile => ({
  filename,
  status: 'renamed',
  previous_filename,
});
const numbered = (many: number): readonly GitHubFile[] =>
  Array.from({ length: many }, (_, number) => modified(`Content/Maps/${number}.umap`));

const pullRequest = pullRequestEvent({ number: 7, head: 'topic' });

interface Guard {
  readonly api: GitHubApi;
  readonly job: SceneJob;
  readonly workspace: string;
  run(given?: Readonly<Record<string, string>>): Promise<StepResult>;
}

/** A run of the event at a GitHub with these options, whose workspace has a lock of grace on each of the paths. */
async function guard(
  options: GitHubApiOptions,
  {
    event = pullRequest,
    locked = [],
    ...jobOptions
  }: SceneJobOptions & { readonly event?: JobEvent; readonly locked?: readonly string[] } = {},
): Promise<Guard> {
  const workspace = await scene.service.workspace();
  for (const path of locked) await scene.lock(workspace, path);
  const api = await startGitHubApi(options);
  const job = await scene.job({ workspace, event, run: { apiUrl: api.apiUrl }, ...jobOptions });
  return {
    api,
    job,
    workspace,
    run: (given = {}) =>
      job.run({ with: { operation: 'list-locks', 'changed-files': 'true', 'fail-if-locked': 'true', ...given } }),
  };
}

const ofPull = (...files: readonly GitHubFile[]): GitHubApiOptions => ({ pulls: { 7: { files } } });

const pathsIn = (result: StepResult): readonly string[] =>
  JSON.parse(result.outputs['locks'] ?? '[]').map(({ path }: { readonly path: string }) => path);

const targetsOf = ({ requests }: GitHubApi): readonly string[] =>
  requests.map(({ method, url }) => `${method} ${url.replace('/repos/octo-games/dragon/', '')}`);

describe('of a pull request', () => {
  test('each locked file has an annotation that names its holder and the end of its lock', async () => {
    const { api, run } = await guard(ofPull(modified('Content/Hero.uasset'), modified('Content/Free.uasset')), {
      locked: ['Content/Hero.uasset', 'Content/Other.uasset'],
    });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: { status: 'locked', count: '1' } });
    expect(result.annotations.map((each) => ({ ...each, message: stable(each.message) }))).toMatchInlineSnapshot(`
      [
        {
          "by": "action",
          "level": "error",
          "message": "1 file is locked, and \`fail-if-locked\` is set.",
        },
        {
          "by": "action",
          "file": "Content/Hero.uasset",
          "level": "error",
          "message": "Content/Hero.uasset is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7.",
          "title": "Locked",
        },
      ]
    `);
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "Pull request #7 of octo-games/dragon changes 2 files.
      ##[group]1 lock in <workspace>, among 2 files of pull request #7.
        Content/Hero.uasset is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7
      ##[endgroup]
      ##[error]1 file is locked, and \`fail-if-locked\` is set.
      ##[error]Content/Hero.uasset is held by grace until <clock> (<distance>), taken by https://github.com/octo-games/dragon/actions/runs/7."
    `);
    expect(stable(result.summary)).toMatchInlineSnapshot(`
      "<h3>Workspace: list-locks</h3>
      <p>1 lock in <workspace>, among 2 files of pull request #7.</p>
      <table>
      <tr><th>Path</th><th>Holder</th><th>Until</th><th></th><th>Taken by</th></tr>
      <tr><td>Content/Hero.uasset</td><td>grace</td><td><clock></td><td><distance></td><td>https://github.com/octo-games/dragon/actions/runs/7</td></tr>
      </table>

      "
    `);
    expect(targetsOf(api)).toMatchInlineSnapshot(`
      [
        "GET pulls/7",
        "GET pulls/7/files?per_page=100",
        "GET pulls/7",
      ]
    `);
    expect(result.state).toEqual({});
  });

  test('both names of a renamed file count, and so does a removed one', async () => {
    const files = [renamed('Content/Old.uasset', 'Content/New.uasset'), removed('Content/Gone.uasset')];
    const { run } = await guard(ofPull(...files), {
      locked: ['Content/Old.uasset', 'Content/New.uasset', 'Content/Gone.uasset'],
    });
    const result = await run();
    expect(pathsIn(result)).toEqual(['Content/Gone.uasset', 'Content/New.uasset', 'Content/Old.uasset']);
    expect(result.annotations.map(({ file }) => file)).toEqual([undefined, ...pathsIn(result)]);
    expect(result.log).toContain(
      'Pull request #7 of octo-games/dragon changes 2 files, which makes 3 paths to look up.',
    );
  });

  test('the original of a copy does not count', async () => {
    const copy: GitHubFile = { filename: 'b', status: 'copied', previous_filename: 'a' };
    const { run } = await guard(ofPull(copy), { locked: ['a'] });
    expect(await run()).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0' } });
  });

  test('the files of all pages count', async () => {
    const { api, run } = await guard(ofPull(...numbered(250)), {
      locked: ['Content/Maps/0.umap', 'Content/Maps/249.umap', 'Content/Other.uasset'],
    });
    const result = await run();
    expect(pathsIn(result)).toEqual(['Content/Maps/0.umap', 'Content/Maps/249.umap']);
    expect(result.log).toContain('changes 250 files.');
    expect(targetsOf(api).filter((target) => target.includes('/files'))).toHaveLength(3);
  });

  test('the locks of the author do not count where their name is ignored', async () => {
    const { run, workspace } = await guard(ofPull(modified('mine'), modified('free')));
    await scene.lock(workspace, 'mine', { name: 'ada' });
    expect(await run({ 'ignore-owner': 'ada' })).toMatchObject({ conclusion: 'success', outputs: { status: 'free' } });
    expect(await run({ 'ignore-owner': 'grace' })).toMatchObject({ conclusion: 'failure' });
  });

  test('locks are listed and nothing fails without fail-if-locked', async () => {
    const { run } = await guard(ofPull(modified('a')), { locked: ['a'] });
    const result = await run({ 'fail-if-locked': 'false' });
    expect(result).toMatchObject({ conclusion: 'success', annotations: [], outputs: { status: 'locked', count: '1' } });
  });

  test('without any file, nothing is looked up and all is free', async () => {
    const { run } = await guard(ofPull(), { locked: ['a'] });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0', locks: '[]' } });
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "Pull request #7 of octo-games/dragon changes 0 files.
      Nothing is locked in <workspace>, among 0 files of pull request #7."
    `);
  });

  test('files that nobody can lock are passed over', async () => {
    const files = ['a\\b', 'tab\there', 'x'.repeat(1_025)].map(modified);
    const { run } = await guard(ofPull(...files), { locked: ['a'], debug: true });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0' } });
    expect(result.debug).toContain(
      'Passed over "a\\\\b", which cannot be locked. A path is written with /, not with a backslash.',
    );
    expect(result.debug.filter((line) => line.startsWith('Passed over'))).toHaveLength(3);
  });

  test('a name is compared in the one form that its spellings share', async () => {
    const { run } = await guard(ofPull(modified('Cafe\u0301.uasset')), { locked: ['Caf\u00e9.uasset'] });
    expect(await run()).toMatchObject({ conclusion: 'failure', outputs: { count: '1' } });
  });

  test.each(['pull_request_target', 'pull_request_review'])('the event can be %s, too', async (name) => {
    const { run } = await guard(ofPull(modified('a')), { locked: ['a'], event: { ...pullRequest, name } });
    expect(await run()).toMatchObject({ conclusion: 'failure', outputs: { count: '1' } });
  });

  test('it is read with nothing but GET, from GitHub and from the service', async () => {
    const service = await startOtherServer(json(200, { locks: [] }));
    const { api, run } = await guard(ofPull(...numbered(12)), { env: { WORKSPACE_BASE_URL: service.baseUrl } });
    expect(await run()).toMatchObject({ conclusion: 'success' });
    const all = [...api.requests, ...service.requests];
    expect(all.length).toBeGreaterThan(3);
    expect([...new Set(all.map(({ method }) => method))]).toEqual(['GET']);
  });
});

describe('a pull request that is not seen to its end does not pass', () => {
  test('with more files than GitHub lists', async () => {
    const { api, run } = await guard(ofPull(...numbered(3_001)));
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]The files of pull request #7 of octo-games/dragon could not be looked up. It changes 3,001 files, and GitHub lists 3,000 at the most. Split it, or name the files with \`path\` instead."`,
    );
    expect(api.requests).toHaveLength(1);
  });

  test('with as many files as GitHub lists it does', async () => {
    const { run } = await guard(ofPull(...numbered(3_000)));
    expect(await run()).toMatchObject({ conclusion: 'success', outputs: { status: 'free' } });
  });

  test('with a list of locks that may not be whole', async () => {
    const service = await startOtherServer(json(200, { locks: [{ path: 'b' }, 7] }));
    const { run } = await guard(ofPull(modified('a')), { env: { WORKSPACE_BASE_URL: service.baseUrl } });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.outputs).not.toHaveProperty('status');
    expect(stable(result.log)).toMatchInlineSnapshot(`
      "Pull request #7 of octo-games/dragon changes 1 file.
      ##[warning]The list of locks may not be whole: 1 of its entries could not be read.
      No lock was seen in <workspace>, among 1 file of pull request #7, but not all of them could be read.
      ##[error]The list of locks may not be whole: 1 of its entries could not be read. With \`fail-if-locked\`, a file passes only if it is known not to be locked."
    `);
    expect(await run({ 'fail-if-locked': 'false' })).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'free' },
    });
  });
});

const none = '0'.repeat(40);

const push = (before: string, after: string, others: object = {}): JobEvent =>
  pushEvent('topic', { before, after, repository: { default_branch: 'main' }, ...others });

const treeOf = (files: Readonly<Record<string, string>>): Tree => new Map(Object.entries(files));
const many = (count: number, content: string): Tree =>
  new Map(Array.from({ length: count }, (_, number): [string, string] => [`${number}`, `${number} ${content}`]));

describe('of a push', () => {
  test('the files of all its commits count', async () => {
    const history = createHistory();
    const before = history.commit(treeOf({ a: '1', b: '1', c: '1' }));
    const between = history.commit(treeOf({ a: '2', b: '1', c: '1' }), before);
    const after = history.commit(treeOf({ a: '2', d: '1', c: '1' }), between);
    const { api, run } = await guard({ history }, { locked: ['a', 'b', 'c', 'd'], event: push(before, after) });
    const result = await run();
    expect(pathsIn(result)).toEqual(['a', 'b', 'd']);
    expect(result.log).toContain(
      'The push to topic (0000001 to 0000003) of octo-games/dragon changes 2 files, which makes 3 paths to look up.',
    );
    expect(targetsOf(api)).toEqual([`GET compare/${before}...${after}?per_page=100`]);
  });

  test('more files than a comparison lists come from its commits', async () => {
    const history = createHistory();
    const before = history.commit(many(900, '1'));
    const between = history.commit(many(900, '2'), before);
    const after = history.commit(new Map([...many(900, '2'), ['last', '1']]), between);
    const { api, run } = await guard({ history }, { locked: ['last', '899', 'other'], event: push(before, after) });
    const result = await run();
    expect(pathsIn(result)).toEqual(['899', 'last']);
    expect(result.log).toContain('changes 901 files.');
    expect(targetsOf(api)).toHaveLength(1 + 3 + 1 + 1);
  });

  test('what a force push throws away counts, too', async () => {
    const history = createHistory();
    const root = history.commit(treeOf({ a: '1', b: '1', c: '1' }));
    const before = history.commit(treeOf({ a: '2', b: '1', c: '1' }), root);
    const after = history.commit(treeOf({ a: '1', b: '2', c: '1' }), root);
    const event = push(before, after, { forced: true });
    const { run } = await guard({ history }, { locked: ['a', 'b', 'c'], event });
    expect(pathsIn(await run())).toEqual(['a', 'b']);
  });

  test('of a new branch, what it has that the default branch has not', async () => {
    const history = createHistory();
    const root = history.commit(treeOf({ a: '1', b: '1' }));
    const main = history.commit(treeOf({ a: '2', b: '1' }), root);
    const after = history.commit(treeOf({ a: '1', b: '2' }), root);
    const { api, run } = await guard(
      { history, branches: { main } },
      { locked: ['a', 'b'], event: push(none, after, { created: true }) },
    );
    const result = await run();
    expect(pathsIn(result)).toEqual(['b']);
    expect(result.log).toContain('The push that makes topic (0000003, compared with main) of octo-games/dragon');
    expect(targetsOf(api)).toEqual([`GET compare/main...${after}?per_page=100`]);
  });

  test('that deletes a branch, there are none', async () => {
    const { api, run } = await guard({}, { locked: ['a'], event: push('1'.repeat(40), none, { deleted: true }) });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'free', count: '0' } });
    expect(api.requests).toEqual([]);
  });

  test('whose commit from before is gone, nothing passes', async () => {
    const history = createHistory();
    const after = history.commit(treeOf({ a: '1' }));
    const { run } = await guard({ history }, { event: push('1'.repeat(40), after, { forced: true }) });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]The files of the push to topic (1111111 to 0000001) of octo-games/dragon could not be looked up. Not Found (GET /repos/octo-games/dragon/compare/<commit>...<commit>: 404 Not Found). GitHub says so, too, of what a token may not see: give the job the permission \`contents: read\`, below \`permissions:\`. Or the commit before the push is gone, as it may be after a force push."`,
    );
  });
});

test('of a merge group, the files of all its pull requests count', async () => {
  const history = createHistory();
  const base_sha = history.commit(treeOf({ a: '1', b: '1' }));
  const head_sha = history.commit(treeOf({ a: '1', b: '2' }), base_sha);
  const event: JobEvent = {
    name: 'merge_group',
    ref: 'refs/heads/gh-readonly-queue/main/pr-7',
    payload: { action: 'checks_requested', merge_group: { base_sha, head_sha } },
  };
  const { run } = await guard({ history }, { locked: ['a', 'b'], event });
  const result = await run();
  expect(pathsIn(result)).toEqual(['b']);
  expect(result.log).toContain('The merge group (0000001 to 0000002) of octo-games/dragon changes 1 file.');
});

describe('before any request it is said', () => {
  test('that an event changes no files', async () => {
    const event: JobEvent = { name: 'workflow_dispatch', ref: 'refs/heads/main', payload: { inputs: {} } };
    const { api, run } = await guard(ofPull(modified('a')), { event });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]Input \`changed-files\` is "true". The event of the run is "workflow_dispatch", of which no changed files are known: they are known of events with a pull request (pull_request, pull_request_target, pull_request_review and others), of push and of merge_group. Name the files with \`path\` instead."`,
    );
    expect(api.requests).toEqual([]);
  });

  test('that paths are given either by name or by what has changed', async () => {
    const { api, run } = await guard(ofPull(modified('a')));
    const result = await run({ path: 'b' });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]Input \`path\` is "b". With \`changed-files: true\` the paths come from the pull request or push: give only one of the two."`,
    );
    expect(api.requests).toEqual([]);
  });
});

describe.each(forms(['GitHub refuses']))('%s', () => {
  const refusedWith = async (instead: Answer, event: JobEvent = pullRequest): Promise<StepResult> => {
    const { run } = await guard({ instead: () => instead }, { event });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
    return result;
  };

  test('a token that is not valid', async () => {
    expect(stable((await refusedWith(badCredentials)).log)).toMatchInlineSnapshot(
      `"##[error]The files of pull request #7 of octo-games/dragon could not be looked up. Bad credentials. The token may have expired or been revoked: create a new one, and update the secret (GET /repos/octo-games/dragon/pulls/7: 401 Unauthorized). Leave \`github-token\` out: the token of the job is enough, if it has the permission \`pull-requests: read\`."`,
    );
  });

  test('a token that may not read pull requests', async () => {
    expect(stable((await refusedWith(notAccessible)).log)).toMatchInlineSnapshot(
      `"##[error]The files of pull request #7 of octo-games/dragon could not be looked up. Resource not accessible by integration (GET /repos/octo-games/dragon/pulls/7: 403 Forbidden). Give the job the permission \`pull-requests: read\`, below \`permissions:\`. Reading is enough, so the token of a run from a fork will do."`,
    );
  });

  test('a token that may not read commits', async () => {
    const { log } = await refusedWith(notAccessible, push('1'.repeat(40), '2'.repeat(40)));
    expect(log).toContain('Give the job the permission `contents: read`, below');
  });

  test('to say what a token may not see', async () => {
    expect(stable((await refusedWith(notFound)).log)).toMatchInlineSnapshot(
      `"##[error]The files of pull request #7 of octo-games/dragon could not be looked up. Not Found (GET /repos/octo-games/dragon/pulls/7: 404 Not Found). GitHub says so, too, of what a token may not see: give the job the permission \`pull-requests: read\`, below \`permissions:\`."`,
    );
  });

  test('and a page for people is no answer', async () => {
    const { log } = await refusedWith(htmlPage(200));
    expect(log).toContain('The answer cannot be used: it is not valid JSON');
  });

  test.each<[string, Answer]>([
    ['no object', json(200, [])],
    ['an object without a count', json(200, { head: { sha: 'a' }, base: { sha: 'b' } })],
  ])('and %s is no pull request', async (_name, answer) => {
    expect((await refusedWith(answer)).log).toContain('GitHub does not say of the pull request how many files');
  });
});

/** The answer in place of the first so many requests. */
const first = (times: number, answer: Answer): NonNullable<GitHubApiOptions['instead']> => {
  let left = times;
  return () => {
    left -= 1;
    return left < 0 ? undefined : answer;
  };
};

const busy = { message: 'You have exceeded a secondary rate limit. Please wait.' };

describe.each(forms(['GitHub is in trouble']))('%s', () => {
  test.each<[string, Answer]>([
    ['a failure', htmlPage(502)],
    ['a limit with 403', json(403, busy, { 'retry-after': '0' })],
    ['the end of its hour', json(403, busy, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' })],
  ])('for %s, a request is made again', async (_name, answer) => {
    const { run } = await guard({ ...ofPull(modified('a')), instead: first(1, answer) }, { locked: ['a'] });
    const result = await run();
    expect(pathsIn(result)).toEqual(['a']);
    expect(result.log).toMatch(
      /^GitHub: .* \(GET \/repos\/octo-games\/dragon\/pulls\/7: .*Trying again in 0\.\d s\.$/m,
    );
  });

  test('and no more than `retries` are made', async () => {
    const { api, run } = await guard({ ...ofPull(modified('a')), instead: () => htmlPage(502) });
    const result = await run({ retries: '1' });
    expect(result.conclusion).toBe('failure');
    expect(api.requests).toHaveLength(2);
    expect(result.log).toContain(', 2 attempts)');
  });

  test('for longer than the step may take, it ends at once', async () => {
    const instead = (): Answer => json(403, busy, { 'retry-after': '3600' });
    const { api, run } = await guard({ ...ofPull(modified('a')), instead });
    const result = await run();
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(stable(result.log)).toMatchInlineSnapshot(
      `"##[error]The files of pull request #7 of octo-games/dragon could not be looked up. You have exceeded a secondary rate limit. Please wait. The service asks to wait for 1 h, and less time is left (GET /repos/octo-games/dragon/pulls/7: 429 Too Many Requests)."`,
    );
    expect(api.requests).toHaveLength(1);
  });

  test('and does not answer within `request-timeout`', async () => {
    const { run } = await guard({ instead: () => () => undefined });
    const result = await run({ 'request-timeout': '1s', retries: '0' });
    expect(result.log).toContain('did not answer within 1 s');
  });

  test('in the midst of its pages', async () => {
    const conflict = json(409, { message: 'Conflict' });
    const { run } = await guard({
      ...ofPull(...numbered(250)),
      instead: ({ url }) => (url.includes('page=2') ? conflict : undefined),
    });
    const result = await run();
    expect(result.conclusion).toBe('failure');
    expect(result.log).toContain(': 409 Conflict');
  });

  test('and names a page as the next that was there before', async () => {
    const again = ({ headers, url }: SeenRequest): Answer | undefined =>
      url.includes('/files') ? json(200, [], { link: `<http://${headers.host}${url}>; rel="next"` }) : undefined;
    const { run } = await guard({ ...ofPull(modified('a')), instead: again });
    expect((await run()).log).toContain('GitHub names a page as the next that was there before.');
  });
});

describe.each(forms(['the token goes to no other server']))('%s', () => {
  async function other() {
    return startOtherServer(json(200, []));
  }

  test('by a link to the next page', async () => {
    const elsewhere = await other();
    const link = `<${elsewhere.origin}/repos/octo-games/dragon/pulls/7/files?page=2>; rel="next"`;
    const { run } = await guard({
      ...ofPull(modified('a')),
      instead: ({ url }) => (url.includes('/files') ? json(200, [modified('a')], { link }) : undefined),
    });
    const result = await run();
    expect(result.conclusion).toBe('failure');
    expect(result.log).toContain(`leads to another server, ${elsewhere.origin}, and the token must not go there.`);
    expect(elsewhere.requests).toEqual([]);
  });

  test.each([301, 307])('by a redirect with %i', async (status) => {
    const elsewhere = await other();
    const { run } = await guard({ instead: () => nothing(status, { location: `${elsewhere.origin}/x` }) });
    const result = await run();
    expect(result.conclusion).toBe('failure');
    expect(result.log).toContain(`it leads to ${elsewhere.origin}, which is another server`);
    expect(elsewhere.requests).toEqual([]);
  });
});

test('a repository that was renamed is read at its new address on the same server', async () => {
  const { run } = await guard(
    {
      ...ofPull(modified('a')),
      repository: 'octo-games/phoenix',
      instead: ({ url }) =>
        url.includes('/dragon/') ? nothing(301, { location: url.replace('/dragon/', '/phoenix/') }) : undefined,
    },
    { locked: ['a'] },
  );
  expect(pathsIn(await run())).toEqual(['a']);
});

test('redirects that go round end', async () => {
  const { api, run } = await guard({ instead: ({ url }) => nothing(302, { location: url }) });
  expect((await run()).conclusion).toBe('failure');
  expect(api.requests.length).toBeLessThan(10);
});

test('GitHub Enterprise Server has its interface below a path', async () => {
  const { api, run } = await guard(
    { ...ofPull(...numbered(150)), base: '/api/v3' },
    { locked: ['Content/Maps/149.umap'] },
  );
  expect(pathsIn(await run())).toEqual(['Content/Maps/149.umap']);
  expect(api.requests.every(({ url }) => url.startsWith('/api/v3/repos/octo-games/dragon/pulls/7'))).toBe(true);
});

test('nothing that GitHub says of a deprecation gets into the log by itself', async () => {
  const said = {
    deprecation: 'true',
    sunset: 'x\u00a0::warning::deprecated',
    link: '<https://a.example>; rel="deprecation"',
  };
  const { run } = await guard({
    instead: ({ url }) =>
      json(200, url.includes('/files') ? [] : { head: { sha: 'a' }, base: { sha: 'b' }, changed_files: 0 }, said),
  });
  const result = await run();
  expect(result.conclusion).toBe('success');
  expect(result.rawLog).not.toMatch(/deprecat/i);
  expect(result.written.every(({ stream }) => stream === 'stdout')).toBe(true);
});
