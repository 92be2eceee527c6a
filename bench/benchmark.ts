import { medianOf, medianRatio } from './statistics.ts';

/** What a benchmark is, and what it adds to the table and to the file of results. */

export interface Limit {
  readonly kind: 'at least' | 'at most' | 'exactly';
  readonly value: number;
  /** Who asks for it, or why it is what it is. */
  readonly reason: string;
}

export interface Figure {
  /** Unique in its benchmark and the same in every run: files of results are read by it. */
  readonly name: string;
  readonly value: number;
  /** Such as `ms`, `×`, `KB`, `/s`; empty for a plain number. */
  readonly unit: string;
  readonly limit?: Limit | undefined;
  /** Shown in the table of docs/scaling.md although it has no limit. */
  readonly shown?: true | undefined;
  /** The values that it was computed from, in the file of results alone. */
  readonly rounds?: readonly (readonly number[])[];
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

type More = Pick<Figure, 'limit' | 'shown' | 'rounds'>;

export const figure = (name: string, unit: string, value: number, more: More = {}): Figure => ({
  name,
  value,
  unit,
  ...more,
});

export const medianFigure = (name: string, unit: string, values: readonly number[], more: More = {}): Figure =>
  figure(name, unit, medianOf(values), { ...more, rounds: [values] });

/** The median of what each round is of its partner. */
export const ratioFigure = (name: string, values: readonly number[], partners: readonly number[], more: More = {}) =>
  figure(name, '×', medianRatio(values, partners), { ...more, rounds: [values, partners] });

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
