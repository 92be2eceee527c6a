import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BranchName } from '../../../src/service/git/branch-name.ts';
import { branchStatuses } from '../../../src/service/workspaces/branch-state.ts';
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

test('each branch of the remote is behind, current or unsynced, and the default branch comes first', () => {
  const listing = listed({ a: '2', b: '1', main: '7' }, 100);
  const branchStates = branchStatuses({ listing }, synced({ a: ['1', 50], main: ['7', 50] }));
  expect(branchStates.map(({ name, state }) => [name, state])).toEqual([
    ['main', 'current'],
    ['a', 'behind'],
    ['b', 'unsynced'],
  ]);
});

test('synced branches are listed with an unknown state if the remote has not answered', () => {
  const branchStates = branchStatuses({ listing: undefined }, synced({ main: ['7', 50] }));
  expect(branchStates).toEqual([
    { name: 'main', state: 'unknown', head: undefined, synced: { head: '7', syncedAt: 50 }, isDefault: false },
  ]);
});

/**
 * The remote moves from one commit to the next and is listed once. A sync reads it at some time and ends later.
 * Whatever the order, the reported state was true when the remote was listed.
 */
test('a sync that ends after the listing never makes a branch look better or worse than it was', () => {
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
      if (syncedAt < askedAt) expect(state).not.toBe('unknown');
    }),
  );
});
