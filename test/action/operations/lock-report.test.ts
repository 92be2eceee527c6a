import { expect, test } from 'vitest';
import { rollBackText } from '../../../src/action/operations/lock-report.ts';
import type { ReleaseResult } from '../../../src/locks/release.ts';
import { errorOf, grantOf } from '../../locks/samples.ts';

const error = errorOf({ kind: 'timeout', limitMs: 1_000 });

test.each<[readonly ReleaseResult[], string | undefined]>([
  [[], undefined],
  [[{ kind: 'released' }, { kind: 'absent' }], '2 of 9 paths had been locked; 2 were released again.'],
  [
    [{ kind: 'released' }, { kind: 'other', holder: undefined }],
    '2 of 9 paths had been locked; 1 was released again; lost before they could be released: a.',
  ],
  ...[{ kind: 'ambiguous' } as const, { kind: 'failed', error, mayBeDone: true } as const].map(
    (result): [readonly ReleaseResult[], string] => [
      [{ kind: 'released' }, result],
      '2 of 9 paths had been locked; 1 was released again; the post-step tries to release the others.',
    ],
  ),
])('a failed lock step counts the locks that it rolled back: %j', (results, text) => {
  const releases = results.map((result) => ({ grant: grantOf('a'), result }));
  expect(rollBackText({ releases, unanswered: [] }, 9)).toEqual(text === undefined ? [] : [text]);
});
