import { expect, test } from 'vitest';
import { atMost } from '../../bench/benchmark.ts';
import { objection, withResults } from '../../bench/readme.ts';
import { form } from '../../bench/results.ts';
import { someFigure, someResults } from './some-results.ts';

const page = 'Before.\n\n<!-- bench: written by a command -->\n\nold\n\n<!-- /bench -->\n\nAfter.\n';

test('the table has what has a limit, with the machine and the date', () => {
  const figures = [
    someFigure({ name: 'with a limit', limit: atMost(3, 'so it is') }),
    someFigure({ name: 'without one' }),
    someFigure({ name: 'a | headline', value: 1_000, unit: '/s', inReadme: true }),
  ];
  const leftOut = [{ name: 'curl', reason: 'There is none.' }];
  expect(withResults(page, someResults({ figures, leftOut }))).toBe(`Before.

<!-- bench: written by a command -->

Measured on 2026-02-03. Node v24.0.0 on linux 6.1, 4 × Some CPU, 8 GiB; load 0.2 before and 1.5 after.

|  | Measured | Limit |  |
|---|--:|---|---|
| **How fast.** |  |  |  |
| with a limit | 2 ms | at most 3 ms | kept |
| a \\| headline | 1,000 /s |  |  |

Left out: curl. There is none.

<!-- /bench -->

After.
`);
});

test('it says when the machine was busy', () => {
  const text = withResults(page, someResults({}, { loadBefore: 3 }));
  expect(text).toMatch(/^Measured on .* The machine had other work to do when this began \(load 3\.0\)/m);
});

test('written again, it is the same', () => {
  const once = withResults(page, someResults());
  expect(withResults(once, someResults())).toBe(once);
});

test('a page without a place for it is told of', () => {
  expect(() => withResults('Nothing.', someResults())).toThrow(/no place for the table in README\.md/);
});

const all = [{ name: 'speed' }];

test.each([
  ['of all benchmarks', someResults(), all, undefined],
  ['of a quick run', someResults({}, { quick: true }), all, /quick/],
  ['of some benchmarks', someResults(), [...all, { name: 'syncs' }], /no figures of: syncs\./],
  [
    'of a benchmark that failed',
    someResults({}, { benchmarks: [{ kind: 'failed', name: 'speed', what: '', seconds: 0, why: '' }] }),
    all,
    /no figures of: speed\./,
  ],
])('results %s: is there an objection to a table?', (_, results, benchmarks, sentence) => {
  expect(results.form).toBe(form);
  if (sentence === undefined) expect(objection(results, benchmarks)).toBeUndefined();
  else expect(objection(results, benchmarks)).toMatch(sentence);
});
