import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/service/git/branch-name.ts';
import { GitError } from '../../../src/service/git/git-error.ts';
import type { RemoteBranches } from '../../../src/service/git/remote-branches.ts';
import { createListBranches } from '../../../src/service/workspaces/branches.ts';
import { sqlite } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const storage = sharedStorage(sqlite);

const game = { id: 'game', remote: 'https://git.example.com/game.git' };
const response = (head: string): RemoteBranches => ({
  branches: new Map<BranchName, string>([[branchNamed('main'), head]]),
  defaultBranch: branchNamed('main'),
});

/** Remotes that are queried and answer under the control of the test. */
function setUp() {
  const asked: { readonly remote: string; begin(): void; readonly reply: PromiseWithResolvers<RemoteBranches> }[] = [];
  const list = createListBranches(storage, {
    branches({ remote }, _limits, onBegin) {
      const reply = Promise.withResolvers<RemoteBranches>();
      asked.push({ remote, begin: () => onBegin?.(), reply });
      return reply.promise;
    },
    estimate: () => Promise.reject(new Error('It is not asked for.')),
  });
  return { list, asked };
}

const headOf = (listing: Awaited<ReturnType<ReturnType<typeof createListBranches>>>): string | undefined =>
  listing.kind === 'listed' ? listing.branches[0]?.head : listing.kind;

test('requests before the start of a listing share it, and later ones share the next', async () => {
  const { list, asked } = setUp();
  const early = Array.from({ length: 100 }, () => list(game));
  expect(asked).toHaveLength(1);
  asked[0]?.begin();
  const late = Array.from({ length: 100 }, () => list(game));
  expect(asked).toHaveLength(2);
  asked[0]?.reply.resolve(response('1'));
  asked[1]?.begin();
  asked[1]?.reply.resolve(response('2'));
  expect(new Set((await Promise.all(early)).map(headOf))).toEqual(new Set(['1']));
  expect(new Set((await Promise.all(late)).map(headOf))).toEqual(new Set(['2']));
});

test('different remotes are listed separately', async () => {
  const { list, asked } = setUp();
  const listings = [list(game), list({ ...game, remote: 'https://git.example.com/other.git' })];
  expect(asked.map(({ remote }) => remote)).toEqual([game.remote, 'https://git.example.com/other.git']);
  for (const [index, { begin, reply }] of asked.entries()) {
    begin();
    reply.resolve(response(`${index}`));
  }
  expect((await Promise.all(listings)).map(headOf)).toEqual(['0', '1']);
});

test('after a listing that was rejected as busy, the remote is listed again', async () => {
  const { list, asked } = setUp();
  const first = list(game);
  asked[0]?.reply.reject(new GitError('busy', 'Too many remotes are being asked.'));
  expect(headOf(await first)).toBe('busy');
  const second = list(game);
  expect(asked).toHaveLength(2);
  asked[1]?.reply.resolve(response('1'));
  expect(headOf(await second)).toBe('1');
});
