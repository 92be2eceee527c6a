import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Entry } from '../../../src/action/ledger/entry.ts';
import { readClaims } from '../../../src/action/post-step/claims.ts';
import { at, grantOf, intentOf, lockOf, place } from '../samples.ts';

interface Records {
  /** Undefined for a ledger that cannot be read. */
  readonly entries?: readonly Entry[] | undefined;
  readonly damaged?: number;
  /** What the runner remembers. */
  readonly saved?: readonly string[] | 'too many';
  readonly inFile?: string;
}

const savedLock = (path: string) => lockOf(path, { id: `lock_${path}` });

function claims({ entries, damaged = 0, saved, inFile = '' }: Records) {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const locksFile = join(folder, 'locks.json');
  if (inFile !== '') writeFileSync(locksFile, inFile);
  const ledger = {
    file: 'ledger.jsonl',
    append: () => undefined,
    read() {
      if (entries === undefined) throw new Error('ENOENT');
      return { entries, damaged };
    },
  };
  const locks = saved === 'too many' ? undefined : saved?.map(savedLock);
  const savedState = saved && { ...place, outlivesJob: false, locks };
  const { held, unanswered, ledgerError, renewalError } = readClaims({ ledger, step: 's', locksFile, savedState });
  const losses = held.map(({ loss }) => loss?.at);
  const doubts = held.map(({ grant, doubt }) => (doubt === undefined ? [grant.path] : [grant.path, doubt]));
  return { held: doubts, unanswered: unanswered.map(({ path }) => path), ledgerError, losses, renewalError };
}

const a = [intentOf('a'), grantOf('a')];
const inDoubt = (path: string) => [path, 'records-damaged'] as const;

describe('what a step has to release', () => {
  const released: Entry = { kind: 'ended', ...place, path: 'b', id: 'lock_b', how: 'released', at };
  const begun: Entry = { kind: 'releasing', ...place, path: 'a', id: 'lock_a', at };
  const others = [intentOf('b', { step: 'other' }), grantOf('b', { step: 'other' })];

  test.each<[string, readonly Entry[], held: readonly (readonly [string, string?])[], unanswered: readonly string[]]>([
    ['what it was granted and has not released', [...a, intentOf('b'), grantOf('b'), released], [['a']], []],
    ['what it never had an answer to', [...a, intentOf('c')], [['a']], ['c']],
    ['none of what other steps of the job have', [...a, ...others], [['a']], []],
    ['in doubt where a release of it was begun', [...a, begun], [['a', 'release-started']], []],
  ])('is %s', (_, entries, held, unanswered) => {
    expect(claims({ entries })).toMatchObject({ held, unanswered, ledgerError: undefined });
  });

  test('has with it what could not be renewed and why, unless the records are damaged', () => {
    const entries: readonly Entry[] = [
      ...[...a, intentOf('b'), grantOf('b')],
      { kind: 'lost', ...place, step: 's', path: 'a', key: 'a', at },
      { kind: 'unrenewed', ...place, step: 's', at, reason: 'It is down.' },
      { kind: 'unrenewed', ...place, step: 'other', at, reason: 'It is full.' },
    ];
    expect(claims({ entries })).toMatchObject({ losses: [at, undefined], renewalError: 'It is down.' });
    expect(claims({ entries: entries.slice(0, 4) }).renewalError).toBeUndefined();
    const damaged = claims({ entries, damaged: 1 });
    expect(damaged).toMatchObject({ losses: [undefined, undefined], renewalError: undefined });
  });

  test.each<[string, Records]>([
    ['cannot be read', {}],
    ['has lost lines', { entries: a, damaged: 1 }],
    ['has nothing of the step', { entries: [] }],
    ['has lost one of its locks', { entries: a }],
  ])('comes from what the runner remembers as well where the ledger %s, and is in doubt', (_, records) => {
    const { held, ledgerError } = claims({ ...records, saved: ['a', 'b'] });
    expect(held).toEqual(['a', 'b'].map(inDoubt));
    expect(ledgerError).toMatch(/released as far as it can be proven\.$/);
  });

  test('comes from the file of the step where these were too many for the runner, without what is no lock', () => {
    const inFile = JSON.stringify([savedLock('a'), { path: 7 }, savedLock('../b')]);
    expect(claims({ saved: 'too many', inFile }).held).toEqual([inDoubt('a')]);
    expect(claims({ saved: 'too many', inFile: 'half of a' }).held).toEqual([]);
  });

  test('is said to be unknown where nothing is left that tells', () => {
    expect(claims({}).ledgerError).toMatch(/They stay until their ttl expires\.$/);
  });
});
