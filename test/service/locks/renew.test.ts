import { beforeEach, describe, expect, test } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { type RenewRequest, renewLocks } from '../../../src/service/locks/change-lock.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf, grantedLock, lockRequest, takeIn } from './taken-locks.ts';

const hour = 3_600_000;

describe.each(databaseKinds)('renewals that are requested together, on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });
  const ofWorkspace = { workspace: 'game' };

  beforeEach(() => storage.commit('global', (db) => db.deleteFrom('locks').execute()));

  const take = async (path: string, owner = 'ada') => {
    const more = { bearer: bearerOf(owner) };
    const [decision] = await storage.commit(ofWorkspace, (db) => takeIn(db, [path], more));
    return grantedLock(decision);
  };
  const renewalOf = (path: string, ttl: string, more: Partial<RenewRequest> = {}): RenewRequest => ({
    ...{ workspace: 'game', path, ttl: valueIn(parseTtl(ttl)), bearer: lockRequest(path).bearer },
    ...{ match: () => true, ...more },
  });
  const renew = (...requests: readonly RenewRequest[]) => storage.commit(ofWorkspace, (db) => renewLocks(db, requests));
  const endOf = async (path: string): Promise<number> =>
    (await storage.read.selectFrom('locks').select('expires_at').where('path', '=', path).executeTakeFirstOrThrow())
      .expires_at;

  test('each get their own decision', async () => {
    const [a, b] = [await take('a'), await take('b', 'bob')];
    const decisions = await renew(
      renewalOf('a', '2h', { match: (id) => id === a.id }),
      renewalOf('b', '2h'),
      renewalOf('a', '3h', { match: (id) => id === b.id }),
      renewalOf('c', '2h'),
    );
    expect(decisions).toMatchObject([
      { kind: 'renewed', lock: { id: a.id, path: 'a', expires_at: new Date(await endOf('a')).toISOString() } },
      { problem: 'lock-of-another-owner', extras: { lock: { id: b.id } } },
      { problem: 'lock-changed', extras: { lock: { id: a.id } } },
      { problem: 'lock-changed', message: expect.stringContaining('There is no lock on c') },
    ]);
    expect(await endOf('a')).toBeGreaterThanOrEqual(a.acquired_at + 2 * hour);
    expect(await endOf('b')).toBe(b.expires_at);
  });

  test('are decided in their order if they are of one lock, and each response has the stored end', async () => {
    const { acquired_at } = await take('a');
    const decisions = await renew(renewalOf('a', '9h'), renewalOf('a', '2h'));
    const stored = await endOf('a');
    expect(stored).toBeLessThan(acquired_at + 3 * hour);
    const renewed = { kind: 'renewed', lock: { expires_at: new Date(stored).toISOString() } };
    expect(decisions).toMatchObject([renewed, renewed]);
  });

  test('as extensions never shorten a lock', async () => {
    const { acquired_at } = await take('a');
    const extension = (ttl: string) => renewalOf('a', ttl, { isExtension: true });
    const decisions = await renew(extension('30m'), extension('9h'), extension('5h'), extension('10h'));
    const lastsLonger = { message: expect.stringContaining('already lasts longer') };
    const renewed = { kind: 'renewed' };
    expect(decisions).toMatchObject([lastsLonger, renewed, lastsLonger, renewed]);
    expect(await endOf('a')).toBeGreaterThanOrEqual(acquired_at + 10 * hour);
    expect(await renew(extension('9h'))).toMatchObject([lastsLonger]);
  });
});
