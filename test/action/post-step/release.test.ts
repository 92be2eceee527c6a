import { describe, expect, test } from 'vitest';
import { readCandidates } from '../../../src/action/post-step/release.ts';
import type { Entry } from '../../../src/locks/ledger/entry.ts';
import { addressOf, at, grantOf, intentOf, lockOf, place } from '../../locks/samples.ts';

interface Records {
  readonly entries?: readonly Entry[];
  readonly problem?: string;
  /** Lines that the runner kept. */
  readonly saved?: readonly Entry[];
  readonly hasRequested?: boolean;
}

function candidatesOf({ entries = [], problem, saved = [], hasRequested = false }: Records) {
  const ledger = { file: 'ledger.jsonl', read: () => ({ entries, problem }) };
  const { held, unanswered, lease, ledgerError } = readCandidates(ledger, 's', saved, hasRequested);
  return {
    held: held.map(({ grant, mayBeReleased }) => (mayBeReleased ? `${grant.path}, maybe released` : grant.path)),
    losses: held.map(({ loss }) => loss?.at),
    unanswered: unanswered.map(({ path }) => path),
    ...{ lease: lease?.path, ledgerError, renewalError: held[0]?.renewalError },
  };
}

const started: Entry = { kind: 'step-started', step: 's', at };
const plan: Entry = { kind: 'plan', ...place, step: 's', paths: ['a'], at };
const a = [started, plan, intentOf('a'), grantOf('a')];
const acquired: Entry = { kind: 'acquired', ...place, step: 's', at };

describe('the locks that a step must release', () => {
  const released: Entry = { kind: 'ended', ...addressOf('b'), id: 'lock_b', at };
  const begun: Entry = { kind: 'releasing', ...addressOf('a'), id: 'lock_a', at };
  const step = 'other';
  const others = [intentOf('b', { step }), grantOf('b', { step }), intentOf('c', { step })];

  test.each<[string, readonly Entry[], held: readonly string[], unanswered: readonly string[]]>([
    ['include granted locks that are not released yet', [...a, intentOf('b'), grantOf('b'), released], ['a'], []],
    ['include requests without an answer', [...a, intentOf('c')], ['a'], ['c']],
    ['exclude the locks of other steps', [...a, ...others], ['a'], []],
    ['may be released if their release has started', [...a, begun], ['a, maybe released'], []],
    ['are not released if the request for it has not arrived', [...a, begun, { ...begun, failed: true }], ['a'], []],
    [
      'may be released if one of two requests for it has not arrived',
      [...a, begun, begun, { ...begun, failed: true }],
      ['a, maybe released'],
      [],
    ],
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
    expect(candidatesOf({ entries: entries.slice(0, 6) }).renewalError).toBeUndefined();
    const damaged = candidatesOf({ entries, problem: 'A line cannot be read.' });
    expect(damaged).toMatchObject({ losses: [at, undefined], renewalError: undefined });
  });

  test.each<[string, Records]>([
    ['is unreadable', { problem: 'It cannot be read.' }],
    ['has lost lines', { entries: a, problem: 'A line cannot be read.' }],
    ['has no entries of the step', {}],
    ['is missing a lock of the step', { entries: a }],
  ])('include the saved locks of the runner, marked as possibly released, if the ledger %s', (_, records) => {
    const { held, ledgerError } = candidatesOf({ ...records, saved: [acquired, grantOf('a'), grantOf('b')] });
    expect(held).toEqual(['a, maybe released', 'b, maybe released']);
    expect(ledgerError).toMatch(/stay until their ttl expires\.$/);
  });

  test('may be unknown if the step has requested locks, but its ledger has no request', () => {
    const entries = [started, plan];
    expect(candidatesOf({ entries }).ledgerError).toBeUndefined();
    expect(candidatesOf({ entries, hasRequested: true }).ledgerError).toMatch(/stay until their ttl expires\.$/);
    expect(candidatesOf({ entries: [...entries, intentOf('a')], hasRequested: true }).ledgerError).toBeUndefined();
  });

  test('are complete if the ledger says that the step has all its locks', () => {
    expect(candidatesOf({ entries: [...a, acquired], saved: [acquired, grantOf('a')] })).toMatchObject({
      held: ['a'],
      ledgerError: undefined,
    });
  });

  test('include the lease of a saved lock', () => {
    expect(candidatesOf({ saved: [acquired, grantOf('a', { lock: lockOf('a', { lease: 's' }) })] }).lease).toBe('a');
  });

  test('exclude a saved lock that was released according to a ledger with missing lines', () => {
    const end: Entry = { kind: 'ended', ...addressOf('a'), id: 'lock_a', at };
    expect(candidatesOf({ entries: [end], saved: [acquired, grantOf('a'), grantOf('b')] }).held).toEqual([
      'b, maybe released',
    ]);
  });

  test('need no ledger if the step has requested nothing', () => {
    expect(candidatesOf({}).ledgerError).toBeUndefined();
  });
});
