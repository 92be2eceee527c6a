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

/** Version of the format. Increase it when older files can no longer be read. */
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
  processor: cpus()[0]?.model.trim() ?? 'unknown processor',
  processors: availableParallelism(),
  memoryBytes: totalmem(),
});

/** The load average of the last minute. On Windows, which has none, it is 0. */
export const loadNow = (): number => loadavg()[0] ?? 0;

/** Load before a run comes from other processes. More than half of the processors affects the figures. */
export const wasBusy = ({ processors }: Machine, loadBefore: number): boolean => loadBefore > 0.5 * processors;

export const figuresOf = (result: BenchmarkResult): readonly Figure[] =>
  result.kind === 'measured' ? result.figures : [];

/** Problems of the run, as sentences; empty if it succeeded. */
export function troubles({ benchmarks }: Results): readonly string[] {
  const missed = benchmarks.flatMap(figuresOf).filter((figure) => verdictOn(figure) === 'MISSED').length;
  const failed = benchmarks.filter((result) => result.kind === 'failed');
  return [
    ...(missed === 0 ? [] : [missed === 1 ? 'One limit was missed.' : `${missed} limits were missed.`]),
    ...failed.map(({ name, reason }) => `The benchmark "${name}" failed: ${reason}`),
  ];
}

/** The reason why these results cannot become the table, as a sentence; undefined if they can. */
export function objection(results: Results, all: readonly { readonly name: string }[]): string | undefined {
  const measured = results.benchmarks.filter(({ kind }) => kind === 'measured');
  const missing = all.filter(({ name }) => !measured.some((result) => result.name === name));
  if (missing.length > 0) {
    return `The last run has no figures for: ${missing.map(({ name }) => name).join(', ')}. Run npm run bench.`;
  }
  return results.quick ? 'The last run used --quick: its figures are not meaningful. Run npm run bench.' : undefined;
}

/** The results of the last run, or the reason why there are none, as a sentence. */
export async function readResults(file: string): Promise<Results | string> {
  const results = await readFile(file, 'utf8')
    // Only this command writes the file, and the form identifies its fields.
    .then((text) => JSON.parse(text) as Results)
    .catch(() => undefined);
  if (results?.form === form) return results;
  return `${file} is missing, damaged or from another version. Run npm run bench to create it.`;
}
