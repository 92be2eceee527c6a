import { describe, expect, test } from 'vitest';
import type { BranchName } from '../../../src/interface/branch-name.ts';
import type { RemoteBranches } from '../../../src/service/git/fetch.ts';
import { GitError } from '../../../src/service/git/git-error.ts';
import { createRemotes } from '../../../src/service/workspaces/remotes.ts';
import { databaseKinds } from '../../support/databases.ts';
import { branchNamed } from '../../support/git-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

describe.each(databaseKinds)('the memory of remotes on $name', (kind) => {
  const storage = sharedStorage(kind);

  const main = branchNamed('main');
  const game = { id: 'game', remote: 'https://git.example.com/game.git' };
  const response = (head: string): RemoteBranches => ({
    branches: new Map<BranchName, string>([[main, head]]),
    defaultBranch: main,
  });

  /** Remotes whose answers the test controls, in the order of the queries. */
  function setUp() {
    const asked: PromiseWithResolvers<RemoteBranches>[] = [];
    const stopping = new AbortController();
    const memory = createRemotes({
      storage,
      stopping: stopping.signal,
      allowFileRemotes: false,
      git: {
        branches(_remote, { signal }) {
          const reply = Promise.withResolvers<RemoteBranches>();
          signal?.addEventListener('abort', () => reply.reject(new GitError('aborted', 'The service stops.')));
          asked.push(reply);
          return reply.promise;
        },
        estimate: async () => 0,
      },
    });
    const next = (count: number) => expect.poll(() => asked.length).toBe(count);
    return { memory, asked, next, stopping };
  }

  test('is empty at first, then has the last answer, and keeps it if the remote falls silent', async () => {
    const { memory, asked, next } = setUp();
    expect(memory.known(game)).toMatchObject({ listing: undefined, failure: undefined });
    const first = memory.ask(game);
    await next(1);
    asked[0]?.resolve(response('1'));
    expect((await first).listing).toMatchObject({
      ...response('1'),
      askedAt: expect.any(Number),
    });
    const second = memory.ask(game);
    await next(2);
    expect(memory.known(game).failure).toBeUndefined();
    asked[1]?.reject(new GitError('timeout', 'It did not answer in time.'));
    await second;
    expect(memory.known(game)).toMatchObject({
      listing: { branches: response('1').branches },
      failure: { message: 'It did not answer in time.' },
    });
    const third = memory.ask(game);
    await next(3);
    asked[2]?.resolve(response('2'));
    expect((await third).failure).toBeUndefined();
  });

  test('queries once for parallel requests, and is not used for another remote of the workspace', async () => {
    const { memory, asked, next } = setUp();
    const all = Promise.all([memory.ask(game), memory.ask(game), memory.ask(game)]);
    await next(1);
    const late = memory.ask(game);
    asked[0]?.resolve(response('1'));
    await all;
    await late;
    expect(asked).toHaveLength(1);
    expect(memory.known({ ...game, remote: 'https://git.example.com/other.git' }).listing).toBeUndefined();
  });

  test.each([
    { end: 'answers', finish: (reply: PromiseWithResolvers<RemoteBranches>) => reply.resolve(response('1')) },
    {
      end: 'times out',
      finish: (reply: PromiseWithResolvers<RemoteBranches>) => reply.reject(new GitError('timeout', 'Too late.')),
    },
  ])('keeps the newest listing if an older one $end later', async ({ end, finish }) => {
    const { memory, asked, next } = setUp();
    const older = memory.askAgain(game);
    await next(1);
    const newer = memory.askAgain(game);
    await next(2);
    asked[1]?.resolve(response('2'));
    const known = await newer;
    const [first] = asked;
    if (first !== undefined) finish(first);
    expect(await older).toMatchObject(
      end === 'answers' ? { listing: response('1') } : { failure: { message: 'Too late.' } },
    );
    expect(memory.known(game)).toBe(known);
  });

  test('keeps the listing of the current remote if one of a former remote ends later', async () => {
    const { memory, asked, next } = setUp();
    const former = memory.askAgain({ ...game, remote: 'https://git.example.com/former.git' });
    await next(1);
    const current = memory.askAgain(game);
    await next(2);
    asked[1]?.resolve(response('2'));
    await current;
    asked[0]?.resolve(response('1'));
    await former;
    expect(memory.known(game).listing).toMatchObject(response('2'));
  });

  test('after a listing that was rejected as busy, the remote is listed again', async () => {
    const { memory, asked, next } = setUp();
    const first = memory.askAgain(game);
    await next(1);
    asked[0]?.reject(new GitError('busy', 'Too many remotes are being asked.'));
    expect((await first).failure).toMatchObject({ kind: 'busy', message: 'Too many remotes are being asked.' });
    // The remote was not asked, so nothing is known about it.
    expect(memory.known(game).failure).toBeUndefined();
    const second = memory.askAgain(game);
    await next(2);
    asked[1]?.resolve(response('1'));
    expect((await second).failure).toBeUndefined();
  });

  test('ends all requests when the service stops', async () => {
    const { memory, next, stopping } = setUp();
    const all = Promise.all([memory.ask(game), memory.askAgain({ ...game, id: 'other' })]);
    await next(2);
    stopping.abort();
    const failure = { message: 'The service stops.' };
    expect(await all).toMatchObject([{ failure }, { failure }]);
  });
});
