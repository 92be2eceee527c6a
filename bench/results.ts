import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { type Figure, type LeftOut, verdictOn } from './benchmark.ts';

/** The content of bench/results.json. */

export type BenchmarkResult = {
  readonly name: string;
  readonly what: string;
  readonly seconds: number;
} & (
  | { readonly kind: 'measured'; readonly figures: readonly Figure[]; readonly leftOut?: readonly LeftOut[] }
  | { readonly kind: 'failed'; readonly reason: string }
);

/** Raised when files that were written before can no longer be read. */
export const form = 1;

export type Machine = ReturnType<typeof thisMachine>;

export interface Results {
  readonly form: typeof form;
  readonly date: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly benchmarks: readonly BenchmarkResult[];
}

export const thisMachine = () => ({
  node: process.version,
  system: `${platform()} ${release()}`,
  processor: cpus()[0]?.model.trim() ?? 'of an unknown kind',
  processors: availableParallelism(),
  memoryBytes: totalmem(),
});

/** How many processes wanted a processor, on average of the last minute. Windows has no such number: it is 0. */
export const loadNow = (): number => loadavg()[0] ?? 0;

/** Before a run all load is that of others. More than half of the processors shows in the figures. */
export const wasBusy = ({ processors }: Machine, loadBefore: number): boolean => loadBefore > 0.5 * processors;

export const figuresOf = (result: BenchmarkResult): readonly Figure[] =>
  result.kind === 'measured' ? result.figures : [];

/** Why the run is no success, as sentences; none when it is one. */
export function troubles({ benchmarks }: Results): readonly string[] {
  const missed = benchmarks.flatMap(figuresOf).filter((figure) => verdictOn(figure) === 'MISSED').length;
  const failed = benchmarks.filter((result) => result.kind === 'failed');
  return [
    ...(missed === 0 ? [] : [missed === 1 ? 'One limit is missed.' : `${missed} limits are missed.`]),
    ...failed.map(({ name, reason }) => `The benchmark "${name}" has failed: ${reason}`),
  ];
}

/** Why no table should be made of these results; undefined when it can be. */
export function objection(results: Results, all: readonly { readonly name: string }[]): string | undefined {
  const measured = results.benchmarks.filter(({ kind }) => kind === 'measured');
  const missing = all.filter(({ name }) => !measured.some((result) => result.name === name));
  if (missing.length > 0) {
    return `The last run has no figures of: ${missing.map(({ name }) => name).join(', ')}. Run all of them: npm run bench.`;
  }
  return results.quick ? 'The last run was a quick one, and its figures mean little. Run npm run bench.' : undefined;
}

/** The results of the last run, or a sentence about why there are none. */
export async function readResults(file: string): Promise<Results | string> {
  const results = await readFile(file, 'utf8')
    // Nobody but this command writes the file, and the form says if it has the fields of today.
    .then((text) => JSON.parse(text) as Results)
    .catch(() => undefined);
  if (results?.form === form) return results;
  return `${file} is missing, damaged or of another version. Run npm run bench, which writes it.`;
}
