import { medianOf, medianRatio, percentilesOf } from './statistics.ts';

/** What a benchmark is, and what it adds to the table and to the file of results. */

export interface Limit {
  readonly kind: 'at least' | 'at most' | 'exactly';
  readonly value: number;
  /** Who asks for it, or why it is what it is. */
  readonly reason: string;
}

/** What a figure was computed from. */
export type Detail = { readonly name: string; readonly unit: string } & (
  | { readonly kind: 'rounds'; readonly values: readonly number[] }
  /** Where too much was measured to keep all of it. */
  | { readonly kind: 'distribution'; readonly percentiles: readonly (readonly [percent: number, value: number])[] }
);

export interface Figure {
  /** Unique in its benchmark and the same in every run: files of results are read by it. */
  readonly name: string;
  readonly value: number;
  /** Such as `ms`, `×`, `KB`, `/s`; empty for a plain number. */
  readonly unit: string;
  readonly limit?: Limit | undefined;
  /** Shown in the table of docs/scaling.md although it has no limit. */
  readonly shown?: true | undefined;
  readonly details?: readonly Detail[] | undefined;
}

/** What cannot be measured on this machine: it counts neither as kept nor as missed. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** What a benchmark can use while it runs. */
export interface Bench {
  /** Few and small rounds, to see that it works. The figures mean little. */
  readonly quick: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** A folder of its own, in what is `os.tmpdir()` meanwhile. Both are removed at the end. */
  readonly folder: string;
  progress(text: string): void;
  /** Cleans up something that was started: after the benchmark or on Ctrl-C, the last first, and once. */
  atEnd(work: () => unknown): void;
  leaveOut(what: LeftOut): void;
  /** The address of one server for all benchmarks of a run. Where there is none it is left out, and this is undefined. */
  postgres(): Promise<string | undefined>;
}

export interface Benchmark {
  /** One word for the command line. */
  readonly name: string;
  /** What it measures, as a sentence. */
  readonly what: string;
  /** Set where `--quick` changes nothing that a limit is about. Elsewhere a quick run judges only what must be exact. */
  readonly isExact?: true;
  measure(bench: Bench): Promise<readonly Figure[]>;
}

export const atLeast = (value: number, reason: string): Limit => ({ kind: 'at least', value, reason });
export const atMost = (value: number, reason: string): Limit => ({ kind: 'at most', value, reason });
export const exactly = (value: number, reason: string): Limit => ({ kind: 'exactly', value, reason });

export type Verdict = 'kept' | 'MISSED';

const keeps: Readonly<Record<Limit['kind'], (value: number, limit: number) => boolean>> = {
  'at least': (value, limit) => value >= limit,
  'at most': (value, limit) => value <= limit,
  exactly: (value, limit) => value === limit,
};

/** A figure that is no number keeps no limit. */
export const verdictOn = ({ value, limit }: Figure): Verdict | undefined =>
  limit && (keeps[limit.kind](value, limit.value) ? 'kept' : 'MISSED');

export const rounds = (unit: string, values: readonly number[], name = 'rounds'): Detail => ({
  kind: 'rounds',
  name,
  unit,
  values,
});

export const distribution = (
  values: readonly number[],
  percents: readonly number[] = [50, 90, 99, 100],
  name = 'until the answer',
): Detail => ({ kind: 'distribution', name, unit: 'ms', percentiles: percentilesOf(values, percents) });

type More = Pick<Figure, 'limit' | 'shown' | 'details'>;

export const figure = (name: string, unit: string, value: number, more: More = {}): Figure => ({
  name,
  value,
  unit,
  ...more,
});

/** The median of the rounds, which are its first detail. */
export const medianFigure = (name: string, unit: string, values: readonly number[], more: More = {}): Figure =>
  figure(name, unit, medianOf(values), { ...more, details: [rounds(unit, values), ...(more.details ?? [])] });

/** The median of what each round is of its partner. */
export const ratioFigure = (name: string, values: readonly number[], partners: readonly number[], more?: More) =>
  figure(name, '×', medianRatio(values, partners), more);

/**
 * Measures all cases in every round, which each begins with another case: what slows the machine down meanwhile slows all
 * of them down.
 */
export async function inTurns<Case>(
  { progress, signal }: Pick<Bench, 'progress' | 'signal'>,
  rounds: number,
  cases: readonly Case[],
  measure: (each: Case, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    const first = round % cases.length;
    for (const each of [...cases.slice(first), ...cases.slice(0, first)]) {
      signal.throwIfAborted();
      await measure(each, round);
    }
  }
}
