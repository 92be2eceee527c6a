import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Entry, Grant, Intent } from '../../../src/action/ledger/entry.ts';
import type { Ledger } from '../../../src/action/ledger/ledger.ts';
import { readClaims } from '../../../src/action/post-step/claims.ts';

const place = { service: 'https://workspaces.example.com/v1', workspace: 'game' };
const at = '2026-03-01T12:00:00.000Z';

const lockOn = (path: string, id: string) => ({ path, type: 'exclusive', id, expires_at: '2026-03-01T13:00:00.000Z' });
const intentFor = (path: string, step = 's'): Intent => ({
  kind: 'intent',
  ...place,
  path,
  step,
  key: `${step} ${path}`,
  type: 'exclusive',
  ttl: '1h',
  at,
  byService: true,
});
const grantOf = (path: string, step = 's'): Grant => ({
  kind: 'granted',
  ...place,
  path,
  step,
  key: `${step} ${path}`,
  at,
  waitedMs: 0,
  lock: lockOn(path, `${step} ${path}`),
});

/** A ledger of these entries; without any, of a file that cannot be read. */
const ledgerOf = (entries: readonly Entry[] | undefined, damaged = 0): Ledger => ({
  file: 'ledger.jsonl',
  append: () => undefined,
  read() {
    if (entries === undefined) throw new Error('ENOENT');
    return { entries, damaged };
  },
});

function claims(
  ledger: Ledger,
  { saved, inFile = '' }: { readonly saved?: readonly string[] | 'too many'; readonly inFile?: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const locksFile = join(folder, 'locks.json');
  if (inFile !== '') writeFileSync(locksFile, inFile);
  const locks = saved === 'too many' ? undefined : saved?.map((path) => lockOn(path, `s ${path}`));
  const savedState = saved && { ...place, outlivesJob: false, locks };
  const { held, unclear, trouble } = readClaims({ ledger, step: 's', locksFile, savedState });
  return {
    held: held.map(({ grant, doubt }) => [grant.path, doubt]),
    unclear: unclear.map(({ path }) => path),
    trouble,
  };
}

describe('what a step has to release', () => {
  test('is what it was granted and has not released, and what it never had an answer to', () => {
    const ledger = ledgerOf([
      intentFor('a'),
      intentFor('b'),
      intentFor('c'),
      grantOf('a'),
      grantOf('b'),
      { kind: 'ended', ...place, path: 'b', id: 's b', how: 'released', at },
    ]);
    expect(claims(ledger)).toEqual({ held: [['a', undefined]], unclear: ['c'], trouble: undefined });
  });

  test('is none of what other steps of the job have', () => {
    const ledger = ledgerOf([intentFor('a'), grantOf('a'), intentFor('b', 'other'), grantOf('b', 'other')]);
    expect(claims(ledger)).toEqual({ held: [['a', undefined]], unclear: [], trouble: undefined });
  });

  test('is in doubt where a release of it was begun', () => {
    const ledger = ledgerOf([intentFor('a'), grantOf('a'), { kind: 'releasing', ...place, path: 'a', id: 's a', at }]);
    expect(claims(ledger).held).toEqual([['a', 'release-begun']]);
  });

  test.each([
    ['cannot be read', undefined, 0],
    ['has lost lines', [intentFor('a'), grantOf('a')], 1],
    ['has nothing of the step', [], 0],
  ] as const)(
    'comes from what the runner remembers as well where the ledger %s, and is in doubt',
    (_, entries, lost) => {
      const { held, trouble } = claims(ledgerOf(entries, lost), { saved: ['a', 'b'] });
      expect(held).toEqual([
        ['a', 'records-damaged'],
        ['b', 'records-damaged'],
      ]);
      expect(trouble).toMatch(/released as far as it can be proven\.$/);
    },
  );

  test('comes from the file of the step where these were too many for the runner, without what is no lock', () => {
    const inFile = JSON.stringify([lockOn('a', 's a'), { path: 7 }, lockOn('../b', 's b')]);
    expect(claims(ledgerOf(undefined), { saved: 'too many', inFile }).held).toEqual([['a', 'records-damaged']]);
    expect(claims(ledgerOf(undefined), { saved: 'too many', inFile: 'half of a' }).held).toEqual([]);
  });

  test('is said to be unknown where nothing is left that tells', () => {
    expect(claims(ledgerOf(undefined)).trouble).toMatch(/they stay until their ttl ends\.$/);
  });
});
