import { expect, onTestFinished, test, vi } from 'vitest';
import type { BranchName } from '../../../src/interface/branch-name.ts';
import type { RemoteBranches } from '../../../src/service/git/fetch.ts';
import { GitError } from '../../../src/service/git/git-error.ts';
import { createRefreshMirror } from '../../../src/service/latest/refresh-mirror.ts';
import { type AskedRemote, createRemotes, type KnownRemote } from '../../../src/service/workspaces/remotes.ts';
import { findWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeSyncedBranches, storeWorkspace } from '../../support/stored-rows.ts';

const storage = sharedStorage(sqlite);
let workspaces = 0;

const completeMirror = {
  git: { missingCommits: async () => new Set<string>() },
  pullThrough: { commits: async () => undefined },
};

const commitOf = (branch: string): string => `commit of ${branch}`;

interface SetUp {
  /** Why the remote does not answer. */
  readonly failure?: 'silent' | 'busy';
  readonly patterns?: string | null;
}

/** A remote with these branches. Some of them cannot be fetched. */
async function setUp(
  names: readonly string[],
  mirrored: readonly string[],
  { failure, patterns = 'main,release-*' }: SetUp = {},
) {
  workspaces += 1;
  const id = `game-${workspaces}`;
  const settings = { remote: 'https://git.example.com/game.git', latest_branches: patterns };
  await storeWorkspace(storage, { id, ...settings });
  const workspace = await findWorkspace(storage.read, id);
  if (workspace === undefined) throw new Error('The workspace was not added.');
  const branches = new Map<BranchName, string>(names.map((name) => [branchNamed(name), commitOf(name)]));
  const listing = { branches, defaultBranch: branchNamed('main'), askedAt: 1_000 };
  const answer = (): AskedRemote => {
    const startedAt = performance.now();
    if (failure === undefined) return { listing: { ...listing }, failure, startedAt };
    const kind = failure === 'busy' ? 'busy' : 'timeout';
    return { listing: undefined, failure: new GitError(kind, 'No answer.'), startedAt };
  };
  let known: KnownRemote = { listing: undefined, failure: undefined, startedAt: Number.NEGATIVE_INFINITY };
  const calls = { pulls: 0, asks: 0 };
  const lackingOf = (commits: Iterable<string>) => new Set(commits).difference(new Set(mirrored.map(commitOf)));
  const refreshMirror = createRefreshMirror({
    storage,
    git: { missingCommits: async (_workspace, commits) => lackingOf(commits) },
    pullThrough: {
      async commits(_workspace, heads) {
        calls.pulls += 1;
        return lackingOf(heads.values()).size === 0 ? undefined : 'The remote lacks it.';
      },
    },
    remotes: {
      known: () => known,
      async ask() {
        calls.asks += 1;
        const asked = answer();
        if (failure !== 'busy') known = asked;
        return asked;
      },
    },
  });
  const refresh = (branch: string, maxAgeMs = 60_000) =>
    refreshMirror({ workspace, branch: branchNamed(branch) }, maxAgeMs);
  return { refresh, calls, id, workspace };
}

test('without a branch of the remote, the comparison has no timestamp', async () => {
  const complete = await setUp(['main', 'topic'], ['main', 'topic']);
  expect((await complete.refresh('topic')).asOf).toBeUndefined();
  const { refresh } = await setUp(['main', 'release-1', 'topic'], ['main', 'topic']);
  const { compared, own, gap } = await refresh('topic');
  expect([[...compared], own, gap?.reason]).toEqual([
    [['main', commitOf('main')]],
    commitOf('topic'),
    expect.stringContaining('release-1'),
  ]);
});

test('all branches are fetched together', async () => {
  const releases = Array.from({ length: 400 }, (_, index) => `release-${index}`);
  const { refresh, calls } = await setUp(['main', ...releases], ['main', ...releases]);
  expect((await refresh('main')).compared.size).toBe(401);
  expect(calls.pulls).toBe(1);
});

test('without the default branch of a silent remote, the comparison has no timestamp', async () => {
  const { refresh, id } = await setUp([], ['topic'], { failure: 'silent', patterns: null });
  const head = commitOf('topic');
  await storeSyncedBranches(storage, { workspace_id: id, name: 'topic', head });
  const { compared, own, gap } = await refresh('topic');
  expect([compared.size, own, gap?.isLasting]).toEqual([0, head, false]);
});

test('without its own branch of a silent remote, the comparison has no timestamp', async () => {
  const { refresh, id } = await setUp([], ['main'], { failure: 'silent' });
  await storeSyncedBranches(storage, { workspace_id: id, name: 'main', head: commitOf('main') });
  expect((await refresh('main')).gap).toBeUndefined();
  expect((await refresh('topic')).gap?.reason).toContain('does not answer');
});

test('a synced branch that this instance lacks and cannot fetch leaves a gap', async () => {
  const { refresh, id } = await setUp([], ['main', 'topic'], { failure: 'silent' });
  const rows = ['main', 'release-1', 'topic'].map((name) => ({ workspace_id: id, name, head: commitOf(name) }));
  await storeSyncedBranches(storage, ...rows);
  const { compared, gap } = await refresh('topic');
  expect([[...compared.keys()], gap?.reason]).toEqual([['main'], expect.stringContaining('release-1')]);
});

test.each([
  { remote: 'a silent remote is asked once for all branches', failure: 'silent', asks: 1 },
  { remote: 'a remote for which no process was free is asked again', failure: 'busy', asks: 5 },
  { remote: 'a remote that answers is asked once for each branch', failure: undefined, asks: 3 },
] as const)('$remote', async ({ failure, asks }) => {
  const { refresh, calls } = await setUp(['main', 'a', 'b'], ['main', 'a', 'b'], { ...(failure && { failure }) });
  for (const branch of ['main', 'a', 'b', 'a', 'b']) await refresh(branch);
  expect(calls.asks).toBe(asks);
});

test('a silent remote is not asked again within a minute, not even before a refusal', async () => {
  const { refresh, calls } = await setUp(['main'], ['main'], { failure: 'silent' });
  for (const maxAgeMs of [60_000, 0]) await refresh('main', maxAgeMs);
  expect(calls.asks).toBe(1);
});

test('a remote that answers late because its process had to wait for a free slot does not count as silent', async () => {
  const { workspace } = await setUp([], []);
  const main = branchNamed('main');
  const answer = Promise.withResolvers<RemoteBranches>();
  const estimates = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const running = estimates.values();
  const git = { branches: () => answer.promise, estimate: async () => running.next().value?.promise ?? 0 };
  const remotes = createRemotes({ storage, git, allowFileRemotes: false, stopping: new AbortController().signal });
  const refreshMirror = createRefreshMirror({ storage, ...completeMirror, remotes });
  const refresh = () => refreshMirror({ workspace, branch: main }, 60_000);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const ask = vi.spyOn(remotes, 'ask');
  for (const _ of estimates) void remotes.estimate(workspace, main, { timeoutMs: 10_000 });
  const first = refresh();
  await vi.waitFor(() => expect(ask).toHaveBeenCalledOnce());
  const answered = ask.mock.results[0]?.value;
  await vi.advanceTimersByTimeAsync(2_500);
  estimates[0]?.resolve(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await first).gap).toBeDefined();
  answer.resolve({ branches: new Map([[main, '1']]), defaultBranch: main });
  await answered;
  expect((await refresh()).asOf).toBeUndefined();
});

test('requests for a new branch that arrive while it is fetched share one request to the remote', async () => {
  const { refresh, calls } = await setUp(['main', 'a'], ['main']);
  const first = refresh('a');
  await expect.poll(() => calls.pulls).toBeGreaterThan(0);
  await Promise.all([first, refresh('a'), refresh('a')]);
  expect(calls.asks).toBe(1);
});
