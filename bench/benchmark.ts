import type { Postgres } from './postgres.ts';

/** What a benchmark is, and what it gives to the table, the page and the file of results. */

export interface Limit {
  readonly kind: 'at least' | 'at most' | 'exactly';
  readonly value: number;
  /** Who asks for it, or why it is what it is. */
  readonly why: string;
}

/** What a figure was made of. */
export type Detail =
  | {
      /** One number for each round, in the order in which they were measured. */
      readonly kind: 'rounds';
      readonly name: string;
      readonly unit: string;
      readonly values: readonly number[];
    }
  | {
      /** Where too much was measured to keep all of it. */
      readonly kind: 'distribution';
      readonly name: string;
      readonly unit: string;
      readonly percentiles: readonly (readonly [percent: number, value: number])[];
    };

export interface Figure {
  /** Unlike any other of the same benchmark, and the same in every run: files of results are read by it. */
  readonly name: string;
  readonly value: number;
  /** Such as `ms`, `×`, `KB`, `/s`; empty for a plain number. */
  readonly unit: string;
  readonly limit?: Limit | undefined;
  /** A figure with a limit is in the table of README.md anyway. */
  readonly inReadme?: true | undefined;
  readonly details?: readonly Detail[] | undefined;
}

export interface Axis {
  readonly label: string;
  readonly scale: 'linear' | 'logarithmic';
}

/** How figures go together, for the page. */
export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number, y: number])[];
  }[];
}

/** What cannot be measured on this machine: it counts neither as kept nor as missed. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

export interface Measured {
  readonly figures: readonly Figure[];
  readonly charts?: readonly Chart[] | undefined;
  readonly leftOut?: readonly LeftOut[] | undefined;
}

/** What a benchmark has at hand while it runs. */
export interface Bench {
  /** Few and small rounds, to see that it works. The figures mean little. */
  readonly quick: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** A folder of its own, and meanwhile that of `os.tmpdir()` as well. All in it is removed at the end. */
  readonly folder: string;
  /** Tells what is measured right now. */
  progress(text: string): void;
  /** Ends something that was started: after the benchmark or on Ctrl-C, the last first, and once. */
  atEnd(work: () => unknown): void;
  /** A server for all benchmarks of this run, started when the first asks for it, or why there is none. */
  postgres(): Promise<Postgres>;
}

export interface Benchmark {
  /** One word for the command line. */
  readonly name: string;
  /** What it measures, as a sentence. */
  readonly what: string;
  measure(bench: Bench): Promise<Measured>;
}

export const atLeast = (value: number, why: string): Limit => ({ kind: 'at least', value, why });
export const atMost = (value: number, why: string): Limit => ({ kind: 'at most', value, why });
export const exactly = (value: number, why: string): Limit => ({ kind: 'exactly', value, why });

export type Verdict = 'kept' | 'MISSED';

/** A figure that is no number has kept nothing. */
export function verdictOn({ value, limit }: Figure): Verdict | undefined {
  switch (limit?.kind) {
    case undefined:
      return undefined;
    case 'at least':
      return value >= limit.value ? 'kept' : 'MISSED';
    case 'at most':
      return value <= limit.value ? 'kept' : 'MISSED';
    case 'exactly':
      return value === limit.value ? 'kept' : 'MISSED';
  }
}
