import { type Figure, type Measured, verdictOn } from './benchmark.ts';
import type { Machine } from './machine.ts';

/** The content of bench/results.json. */

export type BenchmarkResult = {
  readonly name: string;
  readonly what: string;
  readonly seconds: number;
} & (({ readonly kind: 'measured' } & Measured) | { readonly kind: 'failed'; readonly why: string });

export interface Results {
  readonly date: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly benchmarks: readonly BenchmarkResult[];
}

export const figuresOf = (result: BenchmarkResult): readonly Figure[] =>
  result.kind === 'measured' ? result.figures : [];

/** Why the run is no success, as sentences; none when it is one. */
export function troubles({ benchmarks }: Results): readonly string[] {
  const missed = benchmarks.flatMap(figuresOf).filter((figure) => verdictOn(figure) === 'MISSED').length;
  const failed = benchmarks.flatMap((result) => (result.kind === 'failed' ? [result.name] : []));
  return [
    ...(missed === 0 ? [] : [missed === 1 ? 'One limit is missed.' : `${missed} limits are missed.`]),
    ...failed.map((name) => `The benchmark "${name}" has failed.`),
  ];
}
