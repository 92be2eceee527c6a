import { expect, test } from 'vitest';
import { atLeast, atMost, verdictOn } from '../../bench/benchmark.ts';
import { objection } from '../../bench/results.ts';
import { figuresMarkdown } from '../../bench/table.ts';
import { someFigure, someResults } from './some-results.ts';

test.each([
  [5, atLeast(5, ''), 'kept'],
  [4.999, atLeast(5, ''), 'MISSED'],
  [1.25, atMost(1.25, ''), 'kept'],
  [1.2501, atMost(1.25, ''), 'MISSED'],
  [Number.NaN, atLeast(5, ''), 'MISSED'],
  [Number.NaN, atMost(5, ''), 'MISSED'],
  [5, undefined, undefined],
])('the value %d with the limit %j is %s', (value, limit, verdict) => {
  expect(verdictOn(someFigure({ value, limit }))).toBe(verdict);
});

const failed = { kind: 'failed', name: 'speed', what: 'How fast.', seconds: 1, reason: 'It hung.' } as const;

test('the page shows figures with a limit and figures marked as shown', () => {
  const figures = [
    someFigure({ name: 'with a limit', limit: atMost(3, 'so it is') }),
    someFigure({ name: 'without one' }),
    someFigure({ name: 'a | headline', value: 1_000, unit: '/s', shown: true }),
  ];
  const leftOut = [{ name: 'curl', reason: 'There is none.' }];
  const results = someResults({ figures, leftOut }, { loadBefore: 3 });
  const machine =
    'Measured on 2026-02-03. Node v24.0.0 on linux 6.1, 4 × Some CPU, 8 GiB; load 3.0 before and 1.5 after. ' +
    'The machine was not idle at the start (load 3.0): repeat the run on an idle machine.';
  expect(figuresMarkdown(results)).toBe(`${machine}

|  | Measured | Limit |  |
|---|--:|---|---|
| **How fast.** |  |  |  |
| with a limit | 2 ms | at most 3 ms | kept |
| a \\| headline | 1,000 /s |  |  |

Left out: curl. There is none.`);
});

test.each([
  ['of all benchmarks', someResults(), ['speed'], undefined],
  ['of a quick run', someResults({}, { quick: true }), ['speed'], expect.stringContaining('quick')],
  ['of some benchmarks', someResults(), ['speed', 'syncs'], expect.stringContaining('no figures for: syncs.')],
  [
    'of a failed benchmark',
    someResults({}, { benchmarks: [failed] }),
    ['speed'],
    expect.stringContaining('for: speed.'),
  ],
])('objection accepts only complete results for the table: results %s', (_, results, names, sentence) => {
  expect(
    objection(
      results,
      names.map((name) => ({ name })),
    ),
  ).toEqual(sentence);
});
