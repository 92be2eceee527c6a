export const outputNames = [
  'status',
  'sync_id',
  'branch',
  'estimated_objects',
  'locks',
  'locks_file',
  'count',
  'acquired',
  'holder',
  'waited_seconds',
  'released',
  'hook_id',
  'workspaces',
  'branches',
] as const;

export type OutputName = (typeof outputNames)[number];

export type Outputs = { readonly [Name in OutputName]?: string };

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A note in the margin of a file of the checkout. */
export interface FileNote {
  readonly file: string;
  readonly title: string;
  readonly text: string;
}

/** What came of an operation, before anybody is told. */
export interface Outcome {
  readonly outputs: Outputs;
  /** What was done, in one sentence. */
  readonly sentence: string;
  readonly tables: readonly Table[];
  /** Why the step fails; empty when it does not. */
  readonly failures: readonly string[];
  readonly notes: readonly FileNote[];
}

export const succeeded = (outputs: Outputs, sentence: string, ...tables: readonly Table[]): Outcome => ({
  outputs,
  sentence,
  tables,
  failures: [],
  notes: [],
});

export const failed = (outputs: Outputs, why: string, ...tables: readonly Table[]): Outcome => ({
  outputs,
  sentence: why,
  tables,
  failures: [why],
  notes: [],
});
