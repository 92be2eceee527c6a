import { readFile } from 'node:fs/promises';
import { type Figure, type Measured, verdictOn } from './benchmark.ts';
import type { Machine } from './machine.ts';

/** The content of bench/results.json. */

export type BenchmarkResult = {
  readonly name: string;
  readonly what: string;
  readonly seconds: number;
} & (({ readonly kind: 'measured' } & Measured) | { readonly kind: 'failed'; readonly why: string });

/** Raised when files that were written before can no longer be read. */
export const form = 1;

export interface Results {
  readonly form: typeof form;
  readonly date: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly benchmarks: readonly BenchmarkResult[];
}

export const figuresOf = (result: BenchmarkResult): readonly Figure[] =>
  result.kind === 'measured' ? result.figures : [];

/** None when all are kept. */
export const missedSentences = (missed: number): readonly string[] =>
  missed === 0 ? [] : [missed === 1 ? 'One limit is missed.' : `${missed} limits are missed.`];

/** Why the run is no success, as sentences; none when it is one. */
export function troubles({ benchmarks }: Results): readonly string[] {
  const missed = benchmarks.flatMap(figuresOf).filter((figure) => verdictOn(figure) === 'MISSED').length;
  const failed = benchmarks.flatMap((result) => (result.kind === 'failed' ? [result.name] : []));
  return [...missedSentences(missed), ...failed.map((name) => `The benchmark "${name}" has failed.`)];
}

export type ReadResults =
  | { readonly kind: 'read'; readonly results: Results }
  | { readonly kind: 'missing'; readonly sentence: string };

/** The results of the last run. */
export async function readResults(file: string): Promise<ReadResults> {
  const missing = (why: string): ReadResults => ({
    kind: 'missing',
    sentence: `${why} Run npm run bench, which writes it.`,
  });
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return missing(`There is no ${file}.`);
  }
  try {
    // Nobody but this command writes the file, and the form says if it has the fields of today.
    const results = JSON.parse(text) as Results;
    return results.form === form ? { kind: 'read', results } : missing(`${file} is of another version.`);
  } catch {
    return missing(`${file} is damaged.`);
  }
}
