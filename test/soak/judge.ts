import { type Figure, figure } from '../../bench/benchmark.ts';
import type { BenchmarkResult } from '../../bench/results.ts';
import type { Declared } from './figures.ts';
import type { Note } from './notes.ts';

/** A test file, with its expected figures. */
export interface Part {
  readonly file: string;
  readonly figures: Readonly<Record<string, Declared>>;
  /** The reason why one of its tests was skipped; undefined if none was. */
  readonly leftOut?: string | undefined;
}

/** The worst value relative to the limit; a value that is not a number is the worst one. */
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

/** The figures of a test file. A missing figure misses its limit, unless a test of the file was skipped. */
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
