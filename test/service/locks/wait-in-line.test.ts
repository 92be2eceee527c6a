import { expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { Refusal } from '../../../src/service/contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../../../src/service/contract/response.ts';
import { requestGapMs } from '../../../src/service/locks/line.ts';
import { createWaitingLine, type WaitOptions } from '../../../src/service/locks/wait-in-line.ts';
import { createLockWaiters } from '../../../src/service/locks/waiters.ts';
import { sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';

const workspace = 'game';
const storage = sharedStorage(sqlite, { workspaces: [workspace] });

const { signal: gone } = new AbortController();
const noWait: WaitOptions = { seconds: 0, any: false, urgency: 3, gone, authenticate: async () => undefined };

const held = new Refusal('locked', 'Held.');
const failed = (error: unknown): void => expect.unreachable(String(error));
const bearer = { id: 'tok_1', name: 'ada', owner: 'ada', scopes: [], workspaces: null } as const;
const path = valueIn(parseLockPath('a'));
const request = { workspace, path, type: 'exclusive', ttl: valueIn(parseTtl('1h')), bearer, origin: null } as const;

/** Requests with this key have these outcomes, one after the other. */
function acquireWith(key: string, options: WaitOptions | undefined, ...outcomes: (ApiResponse | Error)[]) {
  const waiters = createLockWaiters({
    readPath: async () => ({ remainingMs: undefined, first: undefined }),
    watchOthers: () => () => undefined,
    onCount: () => undefined,
    onError: failed,
  });
  const line = createWaitingLine({
    storage,
    // Too many clients wait already.
    waiters: { ...waiters, waitForTurn: () => undefined },
    async attempt() {
      const outcome = outcomes.shift();
      if (outcome === undefined || outcome instanceof Error) throw outcome;
      return outcome;
    },
    onChange: () => undefined,
    onError: failed,
  });
  return line.acquire({ tokenId: 'tok_1', key, fingerprint: 'f' }, request, options);
}

test.each([
  ['waits', noWait],
  ['does not wait', undefined],
])('a request that %s learns that an earlier one of its client was granted meanwhile', async (key, options) => {
  const response = await acquireWith(key, options, held, jsonApiResponse(201, { id: 'lock_1' }));
  expect(response.status).toBe(201);
});

async function presentUntil(key: string): Promise<number> {
  const query = storage.read.selectFrom('lock_places').select('present_until').where('id', 'like', `%${key}`);
  return Number((await query.executeTakeFirstOrThrow()).present_until);
}

test('others do not wait for a client whose request is refused', async () => {
  const error = new Refusal('quota-exceeded', 'Too many locks.');
  await expect(acquireWith('refused', { ...noWait, seconds: 30 }, held, error)).rejects.toThrow(error.message);
  expect(await presentUntil('refused')).toBeLessThanOrEqual(Date.now());
});

test.each([
  ['too many wait', held],
  ['the database fails', new Error('No database.')],
])('others wait a moment for a client that cannot wait because %s', async (key, error) => {
  const began = Date.now();
  await expect(acquireWith(key, { ...noWait, seconds: 30 }, held, error)).rejects.toThrow(error.message);
  const until = await presentUntil(key);
  expect(until).toBeGreaterThanOrEqual(began + requestGapMs);
  expect(until).toBeLessThanOrEqual(Date.now() + requestGapMs);
});
