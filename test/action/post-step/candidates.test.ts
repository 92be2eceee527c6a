import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCandidates } from '../../../src/action/post-step/candidates.ts';
import type { Entry } from '../../../src/locks/ledger/entry.ts';
import { addressOf, at, grantOf, intentOf, lockOf, place } from '../../locks/samples.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Records {
  readonly entries?: readonly Entry[];
  readonly problem?: string;
  /** Locks in the saved state of the runner. */
  readonly saved?: readonly string[] | 'too many';
  readonly inFile?: string;
}

const savedLock = (path: string) => lockOf(path, { id: `lock_${path}` });

function candidatesOf({ entries = [], problem, saved, inFile = '' }: Records) {
  const folder = temporaryFolder();
  const locksFile = join(folder, 'locks.json');
  if (inFile !== '') writeFileSync(locksFile, inFile);
  const ledger = { file: 'ledger.jsonl', entries, problem };
  const locks = saved === 'too many' ? undefined : saved?.map(savedLock);
  const savedState = saved && { ...place, outlivesJob: false, locks };
  const { held, unanswered, ledgerError, renewalError } = readCandidates({ ledger, step: 's', locksFile, savedState });
  const losses = held.map(({ loss }) => loss?.at);
  const statuses = held.map(({ grant, releaseStatus }) =>
    releaseStatus === undefined ? [grant.path] : [grant.path, releaseStatus],
  );
  return { held: statuses, unanswered: unanswered.map(({ path }) => path), ledgerError, losses, renewalError };
}

const plan: Entry = { kind: 'plan', ...place, step: 's', paths: ['a'], at };
const a = [plan, intentOf('a'), grantOf('a')];
const ofDamaged = (path: string) => [path, 'records-damaged'] as const;

describe('the locks that a step must release', () => {
  const released: Entry = { kind: 'ended', ...addressOf('b'), id: 'lock_b', at };
  const begun: Entry = { kind: 'releasing', ...addressOf('a'), id: 'lock_a', at };
  const others = [intentOf('b', { step: 'other' }), grantOf('b', { step: 'other' })];

  test.each<[string, readonly Entry[], held: readonly (readonly [string, string?])[], unanswered: readonly string[]]>([
    ['include granted locks that are not released yet', [...a, intentOf('b'), grantOf('b'), released], [['a']], []],
    ['include requests without an answer', [...a, intentOf('c')], [['a']], ['c']],
    ['exclude the locks of other steps', [...a, ...others], [['a']], []],
    ['may be released if their release has started', [...a, begun], [['a', 'release-started']], []],
  ])('%s', (_, entries, held, unanswered) => {
    expect(candidatesOf({ entries })).toMatchObject({ held, unanswered, ledgerError: undefined });
  });

  test('come with losses, and with renewal errors unless the records are damaged', () => {
    const entries: readonly Entry[] = [
      ...[...a, intentOf('b'), grantOf('b')],
      { kind: 'lost', ...addressOf('a'), step: 's', key: 'a', at },
      { kind: 'unrenewed', ...place, step: 's', at, reason: 'It is down.' },
      { kind: 'unrenewed', ...place, step: 'other', at, reason: 'It is full.' },
    ];
    expect(candidatesOf({ entries })).toMatchObject({ losses: [at, undefined], renewalError: 'It is down.' });
    expect(candidatesOf({ entries: entries.slice(0, 5) }).renewalError).toBeUndefined();
    const damaged = candidatesOf({ entries, problem: 'A line cannot be read.' });
    expect(damaged).toMatchObject({ losses: [at, undefined], renewalError: undefined });
  });

  test.each<[string, Records]>([
    ['is unreadable', { problem: 'It cannot be read.' }],
    ['has lost lines', { entries: a, problem: 'A line cannot be read.' }],
    ['has no entries of the step', {}],
    ['is missing a lock of the step', { entries: a }],
  ])('include the saved locks of the runner, marked as possibly released, if the ledger %s', (_, records) => {
    const { held, ledgerError } = candidatesOf({ ...records, saved: ['a', 'b'] });
    expect(held).toEqual(['a', 'b'].map(ofDamaged));
    expect(ledgerError).toMatch(/released if they can be verified to belong to this step\.$/);
  });

  test('come from the file of the step if they were too many for the runner, without invalid entries', () => {
    const inFile = JSON.stringify([savedLock('a'), { path: 7 }, { ...savedLock('b'), path: '../b' }]);
    expect(candidatesOf({ saved: 'too many', inFile }).held).toEqual([ofDamaged('a')]);
    expect(candidatesOf({ saved: 'too many', inFile: 'half of a' }).held).toEqual([]);
  });

  test.each<[string, readonly Entry[]]>([
    ['no records are left', []],
    ['only the plan is left', [plan]],
  ])('are reported as unknown if %s', (_, entries) => {
    expect(candidatesOf({ entries }).ledgerError).toMatch(/They stay until their ttl expires\.$/);
  });
});
