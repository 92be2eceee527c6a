import { medianOf, medianRatio } from './statistics.ts';

/** Benchmarks, and the figures that they add to the table and to results.json. */

export interface Limit {
  readonly kind: 'at least' | 'at most' | 'exactly';
  readonly value: number;
  /** The source of the limit, or the reason for its value. */
  readonly reason: string;
}

export interface Figure {
  /** Unique in its benchmark and the same in every run: the key of the figure in results.json. */
  readonly name: string;
  readonly value: number;
  /** Such as `ms`, `×`, `KB`, `/s`; empty for a plain number. */
  readonly unit: string;
  readonly limit?: Limit | undefined;
  /** Shown in the table of docs/scaling.md. */
  readonly shown?: true | undefined;
  /** The values that it was computed from. They are only in results.json. */
  readonly rounds?: readonly (readonly number[])[];
}

/** A measurement that is not possible on this machine. It counts neither as kept nor as missed. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** The context of a running benchmark. */
export interface Bench {
  /** Few and small rounds, only to check that the benchmark works. The figures are not meaningful. */
  readonly quick: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** A folder for this benchmark, inside the `os.tmpdir()` of this run. Both are removed at the end. */
  readonly folder: string;
  progress(text: string): void;
  /** Registers cleanup work. It runs once, after the benchmark or on Ctrl-C, in reverse order. */
  atEnd(work: () => unknown): void;
  leaveOut(what: LeftOut): void;
  /** URL of the server that all benchmarks of a run share. If there is none, it is left out, and this is undefined. */
  postgres(): Promise<string | undefined>;
}

export interface Benchmark {
  /** One word for the command line. */
  readonly name: string;
  /** A sentence about what it measures. */
  readonly what: string;
  /** Set if `--quick` does not affect figures with a limit. Other quick runs check only limits of kind `exactly`. */
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

/** NaN misses every limit. */
export const verdictOn = ({ value, limit }: Figure): Verdict | undefined =>
  limit && (keeps[limit.kind](value, limit.value) ? 'kept' : 'MISSED');

type More = Pick<Figure, 'limit' | 'shown' | 'rounds'>;

export const figure = (name: string, unit: string, value: number, more: More = {}): Figure => ({
  name,
  value,
  unit,
  ...more,
});

export const medianFigure = (name: string, unit: string, values: readonly number[], more: More = {}): Figure =>
  figure(name, unit, medianOf(values), { ...more, rounds: [values] });

/** The median of the ratios of each round to its partner. */
export const ratioFigure = (name: string, values: readonly number[], partners: readonly number[], more: More = {}) =>
  figure(name, '×', medianRatio(values, partners), { ...more, rounds: [values, partners] });

/**
 * Measures all cases in every round, and starts each round with a different case: anything that slows the machine down
 * then affects all cases.
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
