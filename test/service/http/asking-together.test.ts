import { describe, expect, onTestFinished, test } from 'vitest';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedService } from './shared-service.ts';

describe.each(databaseKinds)('acquiring a path, on $name', (kind) => {
  const service = sharedService(kind);
  /** A change that stays in progress until the test ends it. */
  async function change() {
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    onTestFinished(() => end.resolve());
    const changing = service.storage.commit('global', () => {
      begun.resolve();
      return end.promise;
    });
    await begun.promise;
    return async () => {
      end.resolve();
      await changing;
    };
  }

  test('shares commits with concurrent requests', async () => {
    const { take } = await service.newWorkspace();
    const endChange = await change();
    const commits = async () => {
      const { text } = await service.ask('GET', '/metrics', { token: service.secret });
      return Number(/^workspace_commit_changes_count (\d+)$/m.exec(text)?.[1]);
    };
    const before = await commits();
    const asked = Array.from({ length: 64 }, (_, index) => take(`asset-${index}`));
    // The requests arrive meanwhile.
    for (let turn = 0; turn < 20; turn += 1) await service.ask('GET', '/healthz');
    await endChange();
    for (const { status } of await Promise.all(asked)) expect(status).toBe(201);
    expect((await commits()) - before).toBeLessThan(32);
  });
});

describe.each(databaseKinds)('an idempotency key that two instances see at once, on $name', (kind) => {
  test('gets the result of one of them from both, although that result conflicts with the other', async () => {
    const { storage, remove } = await kind.open();
    onTestFinished(remove);
    let taken = false;
    const one = () => {
      const ask = createIdempotency(storage).idempotentBatch<{ readonly workspace: string }, { readonly kind: string }>(
        {
          decide: async (_, asked) =>
            asked.map(() => {
              const kind = taken ? 'held' : 'acquired';
              taken = true;
              return { kind };
            }),
          isDone: ({ kind }) => kind === 'acquired',
        },
      );
      return ask({ tokenId: 't', workspace: 'game', key: 'k', fingerprint: 'f' }, { workspace: 'game' });
    };
    expect(await Promise.all([one(), one()])).toEqual([
      { result: { kind: 'acquired' }, replayed: false },
      { result: { kind: 'acquired' }, replayed: true },
    ]);
  });
});
