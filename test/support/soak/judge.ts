import { type Figure, figure } from '../../../bench/benchmark.ts';
import type { BenchmarkResult } from '../../../bench/results.ts';
import type { Declared } from './figures.ts';
import type { Note } from './notes.ts';

/** A file of tests, with the figures that are to come from it. */
export interface Part {
  readonly file: string;
  readonly figures: Readonly<Record<string, Declared>>;
  /** Why a test of it was left out; undefined when none was. */
  readonly leftOut?: string | undefined;
}

/** What is farthest on the wrong side of the limit; what is no number is farther than any. */
function worst(values: readonly number[], { kind, value: limit }: Declared['limit']): number {
  switch (kind) {
    case 'at least':
      return Math.min(...values);
    case 'at most':
      return Math.max(...values);
    case 'exactly':
      return values.find((value) => value !== limit) ?? limit;
  }
}

/** The figures of a file of tests. One that did not come keeps no limit, unless a test of the file was left out. */
export function judge({ file, figures, leftOut }: Part, notes: readonly Note[]): BenchmarkResult {
  const judged = Object.entries(figures).flatMap(([name, { unit, limit, sum = false }]): readonly Figure[] => {
    const values = notes.filter((note) => note.name === name).map(({ value }) => value);
    if (values.length === 0) return leftOut === undefined ? [figure(name, unit, Number.NaN, { limit })] : [];
    return [figure(name, unit, sum ? values.reduce((total, one) => total + one) : worst(values, limit), { limit })];
  });
  return {
    ...{ kind: 'measured', name: file, what: file, seconds: 0, figures: judged },
    leftOut: leftOut === undefined ? [] : [{ name: file, reason: leftOut }],
  };
}
