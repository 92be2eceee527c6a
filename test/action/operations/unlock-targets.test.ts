import { describe, expect, test } from 'vitest';
import type { Grant } from '../../../src/action/ledger/entry.ts';
import type { JobLocks } from '../../../src/action/ledger/history.ts';
import { fromHandoff, resolveFromLedger } from '../../../src/action/operations/unlock-targets.ts';
import { type LockPath, parseLockPath } from '../../../src/interface/lock-path.ts';

function pathOf(text: string): LockPath {
  const path = parseLockPath(text);
  if (!path.ok) throw new Error(path.why);
  return path.value;
}

const path = pathOf('Content/Hero.uasset');
const at = '2026-03-01T12:00:00.000Z';
const lock = { path, type: 'exclusive', id: 'l1', expires_at: '2026-03-01T13:00:00.000Z' };
const grant: Grant = {
  kind: 'granted',
  service: 'https://workspaces.example.com/v1',
  workspace: 'game',
  path,
  step: 's',
  key: 'k',
  at,
  waitedMs: 0,
  lock,
};

const empty: JobLocks = { held: new Map(), planned: new Set(), stepNames: new Map(), damaged: false };
const holding = (releaseBegun: boolean): JobLocks => ({
  ...empty,
  held: new Map([[path, { grant, releaseBegun }]]),
  planned: new Set([path]),
});
const named = { kind: 'named', path } as const;
const matched = { kind: 'matched', path } as const;

describe('a path of an unlock', () => {
  test.each([named, matched])('that the job holds and that is $kind is its lock, with what proves it', (resolved) => {
    const asked = resolved.kind === 'matched' ? 'by-pattern' : 'by-name';
    const own = { kind: 'lock', path, lock: { ...lock, grantedAt: at }, asked };
    expect(resolveFromLedger(resolved, holding(false))).toEqual({ ...own, doubtful: false });
    expect(resolveFromLedger(resolved, holding(true))).toEqual({ ...own, doubtful: true });
    expect(resolveFromLedger(resolved, { ...holding(false), damaged: true })).toEqual({ ...own, doubtful: true });
  });

  test('that only a pattern matches is nobody’s to release', () => {
    for (const damaged of [false, true]) {
      expect(resolveFromLedger(matched, { ...empty, damaged })).toEqual({ kind: 'matched', path });
    }
  });

  test('that the job meant to lock and does not hold is somebody else’s', () => {
    expect(resolveFromLedger(named, { ...empty, planned: new Set([path]) })).toEqual({ kind: 'not-ours', path });
  });

  test('that the job never asked for stands for the lock that is found there', () => {
    expect(resolveFromLedger(named, empty)).toEqual({ kind: 'path', path });
  });

  test('of which a damaged ledger says nothing is released only if nothing speaks against it', () => {
    expect(resolveFromLedger(named, { ...empty, damaged: true })).toEqual({
      kind: 'lock',
      path,
      lock: {},
      doubtful: true,
      asked: 'by-name',
    });
  });
});

test('a lock that was handed on is meant itself, by what it was handed on with', () => {
  const proof = { id: 'l1', etag: '"l1"', owner: 'ada', acquired_at: at, expires_at: lock.expires_at };
  expect(fromHandoff({ path, ...proof })).toEqual({
    kind: 'lock',
    path,
    lock: proof,
    doubtful: false,
    asked: 'by-name',
  });
});
