import { expect, test } from 'vitest';
import { rollBackTexts } from '../../../src/action/operations/lock-report.ts';
import type { ReleaseResult } from '../../../src/locks/release.ts';
import { errorOf, grantOf, knownLock, start } from '../../locks/samples.ts';

const error = errorOf({ kind: 'timeout', limitMs: 1_000 });

test('a failed lock step reports how many locks it rolled back, and what happened to the others', () => {
  const texts = (...results: readonly ReleaseResult[]) => {
    const releases = results.map((result) => ({ grant: grantOf(result.kind), result }));
    return rollBackTexts({ releases, unanswered: [] }, 9, start);
  };
  expect(texts()).toEqual([]);
  expect(texts({ kind: 'released' }, { kind: 'absent' })).toEqual([
    '2 of 9 paths had been locked; 2 were released again.',
  ]);
  const left = texts(
    { kind: 'released' },
    { kind: 'other', holder: knownLock('other') },
    { kind: 'ambiguous' },
    { kind: 'unanswered', error },
    { kind: 'failed', error, mayBeDone: true },
  );
  expect(left).toEqual([
    '5 of 9 paths had been locked; 1 was released again.',
    expect.stringMatching(/^The lock on other was lost before it could be released\. other is held by grace until/),
    expect.stringMatching(/^The lock on ambiguous may have expired, .* was left alone\.$/),
    ...['unanswered', 'failed'].map((path) =>
      expect.stringContaining(`The lock on ${path} could not be released and stays`),
    ),
  ]);
});
