import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/service/git/branch-name.ts';
import { branchStatuses, countBranchStates, isOutdated } from '../../../src/service/workspaces/branch-state.ts';
import type { RemoteListing } from '../../../src/service/workspaces/remote-memory.ts';
import type { SyncedBranches } from '../../../src/service/workspaces/synced-branches.ts';
import { branchNamed } from '../../support/git-service.ts';

const listed = (branches: Readonly<Record<string, string>>, askedAt: number, answeredAt = askedAt): RemoteListing => ({
  branches: new Map<BranchName, string>(Object.entries(branches).map(([name, head]) => [branchNamed(name), head])),
  defaultBranch: branchNamed('main'),
  askedAt,
  answeredAt,
});
const synced = (branches: Readonly<Record<string, readonly [string, number]>>): SyncedBranches =>
  new Map(Object.entries(branches).map(([name, [head, syncedAt]]) => [name, { head, syncedAt }]));

test('each branch of the remote is behind, up to date or never synced, and the default one comes first', () => {
  const listing = listed({ a: '2', b: '1', main: '7' }, 100);
  const branchStates = branchStatuses({ listing, failure: undefined }, synced({ a: ['1', 50], main: ['7', 50] }));
  expect(branchStates.map(({ name, state }) => [name, state])).toEqual([
    ['main', 'current'],
    ['a', 'behind'],
    ['b', 'unsynced'],
  ]);
  expect(countBranchStates(branchStates)).toEqual({ behind: 1, current: 1, unsynced: 1, unknown: 0 });
});

test('what was synced is still told of when the remote is not known', () => {
  const branchStates = branchStatuses({ listing: undefined, failure: undefined }, synced({ main: ['7', 50] }));
  expect(branchStates).toEqual([
    { name: 'main', state: 'unknown', head: undefined, synced: { head: '7', at: 50 }, isDefault: false },
  ]);
});

/**
 * The remote goes from one commit to the next; it is asked once, and a sync reads it at some time and ends at some
 * later one. Whatever the order, what is said was true when the remote was asked.
 */
test('a sync that ends after the remote was asked never makes a branch look better or worse than it was', () => {
  const time = fc.integer({ min: 0, max: 10 });
  fc.assert(
    fc.property(time, time, time, time, (pushedAt, askedAt, readAt, took) => {
      const headAt = (at: number): string => (at >= pushedAt ? 'new' : 'old');
      const syncedAt = readAt + took;
      const known = { listing: listed({ main: headAt(askedAt) }, askedAt), failure: undefined };
      const branches = synced({ main: [headAt(readAt), syncedAt] });
      const [{ state } = { state: 'missing' }] = branchStatuses(known, branches);
      if (state === 'behind') expect([headAt(readAt), headAt(askedAt)]).toEqual(['old', 'new']);
      if (state === 'current') expect(headAt(readAt)).toBe(headAt(askedAt));
      // What is unknown is asked for again.
      if (state === 'unknown') expect(isOutdated(known, branches, askedAt, 1_000)).toBe(true);
      if (syncedAt < askedAt) expect(state).not.toBe('unknown');
    }),
  );
});

test('what is known is outdated after a while, and by a sync that ended since', () => {
  const known = { listing: listed({ main: '1' }, 100), failure: undefined };
  expect(isOutdated(known, synced({ main: ['1', 99] }), 150, 60)).toBe(false);
  expect(isOutdated(known, synced({ main: ['1', 99] }), 161, 60)).toBe(true);
  expect(isOutdated(known, synced({ main: ['1', 100] }), 150, 60)).toBe(true);
  // An answer that was long in coming is new all the same, or whoever waits for it would never see it.
  const slow = { listing: listed({ main: '1' }, 100, 190), failure: undefined };
  expect(isOutdated(slow, synced({}), 200, 60)).toBe(false);
  const silent = { ...known, failure: { reason: 'No.', askedAt: 100, answeredAt: 190 } };
  expect(isOutdated(silent, synced({}), 200, 60)).toBe(false);
  expect(isOutdated({ listing: undefined, failure: undefined }, synced({}), 0, 60)).toBe(true);
});
