import { expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { Refusal } from '../../../src/service/contract/problem.ts';
import { jsonApiResponse } from '../../../src/service/contract/response.ts';
import { createWaitingLine, type WaitTerms } from '../../../src/service/locks/wait-in-line.ts';
import { createLockWaiters } from '../../../src/service/locks/waiters.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';

const workspace = 'game';
const storage = sharedStorage(sqlite, { workspaces: [workspace] });

const { signal: gone } = new AbortController();
const noWait: WaitTerms = { seconds: 0, any: false, urgency: 3, gone, authenticate: async () => undefined };

test.each([
  ['waits', noWait],
  ['does not wait', undefined],
])('a request that %s learns that an earlier one of its client was granted meanwhile', async (key, terms) => {
  const failed = (error: unknown): void => expect.unreachable(String(error));
  const waiters = createLockWaiters({
    look: async () => ({ remainingMs: undefined, first: undefined }),
    watchOthers: () => () => undefined,
    onCount: () => undefined,
    onError: failed,
  });
  const outcomes = [new Refusal('locked', 'Held.'), jsonApiResponse(201, { id: 'lock_1' })];
  const line = createWaitingLine({
    storage,
    waiters,
    async attempt() {
      const outcome = outcomes.shift();
      if (outcome === undefined || outcome instanceof Refusal) throw outcome;
      return outcome;
    },
    onChange: () => undefined,
    onError: failed,
  });
  const bearer = { id: 'tok_1', name: 'ada', owner: 'ada', scopes: [], workspaces: null } as const;
  const path = valueIn(parseLockPath('a'));
  const request = { workspace, path, type: 'exclusive', ttl: valueIn(parseTtl('1h')), bearer, origin: null } as const;
  const response = await line.acquire({ tokenId: 'tok_1', key, fingerprint: 'f' }, request, terms);
  expect(response.status).toBe(201);
});
