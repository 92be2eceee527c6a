import { expect, test } from 'vitest';
import type { LockWaiters } from '../../../src/service/locks/local-waiters.ts';
import { createWaitInLine } from '../../../src/service/locks/waiting-requests.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const storage = sharedStorage(sqlite);

test('clients of one workspace are kept present while another one is blocked', async () => {
  const blocked = Promise.withResolvers<never>();
  const commits: string[] = [];
  const client = { requestId: 'r', owner: 'ada', ms: 1, gone: AbortSignal.any([]), watched: [] };
  const placed = ['blocked', 'free'].map((workspace) => ({
    ...{ ...client, id: `${workspace} wait`, workspace, end: () => undefined },
  }));
  const errors: unknown[] = [];
  const { keepPresent } = createWaitInLine({
    storage: {
      ...storage,
      commit: async (scope, change) => {
        const name = typeof scope === 'string' ? scope : scope.workspace;
        commits.push(name);
        return name === 'blocked' ? blocked.promise : storage.commit('global', change);
      },
    },
    // Only this part is used here.
    waiters: { placed: () => placed } as unknown as LockWaiters,
    onError: (error) => errors.push(error),
  });
  const first = keepPresent();
  const roundsOf = (workspace: string) => commits.filter((name) => name === workspace).length;
  await expect.poll(() => keepPresent().then(() => roundsOf('free'))).toBeGreaterThan(1);
  expect(roundsOf('blocked')).toBe(1);
  blocked.reject(new Error('The database does not answer.'));
  await first;
  expect(errors).toHaveLength(1);
});

test.each<['granted' | 'refused', readonly number[]]>([
  ['refused', [0]],
  ['granted', []],
])('others do not wait for the presence of a client that is %s at its turn', async (kind, expected) => {
  const leaving: number[] = [];
  const line = createWaitInLine({
    storage: {
      ...storage,
      batchCommits: () => async (change) => {
        leaving.push((change as { readonly presentMs: number }).presentMs);
        return undefined as never;
      },
    },
    // Only this part is used here.
    waiters: { wait: async () => 'turn' } as unknown as LockWaiters,
    onError: () => expect.unreachable(),
  });
  const decisions = [{ kind: 'blocked', watched: [] } as const, { kind }].values();
  const client = { id: 'game wait', workspace: 'game', owner: 'ada' };
  const options = { seconds: 30, urgency: 3, gone: AbortSignal.any([]), authenticate: async () => undefined } as const;
  const last = await line.acquire(client, options, async () => decisions.next().value ?? expect.unreachable());
  expect(last.kind).toBe(kind);
  expect(leaving).toEqual(expected);
});
