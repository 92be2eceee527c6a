/** A text, or the address of a run, which is shown as a link with a name. */
export type Cell = string | { readonly run: string };

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Where the rows are that a summary has no place for. */
  readonly rest?: { readonly text: string; readonly address: string };
}

/** What became of a step's locks at the end of the job. */
export interface ReleaseReport {
  readonly sentence: string;
  readonly table: Table;
  /** Markdown with a chart of how long each lock was waited for and held. */
  readonly chart: string | undefined;
  /** Why the job fails: each about a lock that it relied on and did not have. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  readonly lines: readonly string[];
}

/** A wrong input that was found only by looking at files. Thrown before the first request: nothing has happened yet. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** The page of the dashboard with all locks of a workspace: our service has it beside its interface. */
export const locksPage = (service: string, workspace: string): NonNullable<Table['rest']> => ({
  text: `all locks of ${workspace}`,
  address: `${service.replace(/\/v1$/, '')}/workspaces/${encodeURIComponent(workspace)}/locks`,
});

export const outputNames = [
  'status',
  'sync_id',
  'branch',
  'estimated_objects',
  'clone_url',
  'missing_objects',
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

/** An annotation on a file of the checkout. */
export interface FileAnnotation {
  readonly file: string;
  readonly title: string;
  readonly text: string;
}

/** What an operation came to, before anything is reported. */
export interface Outcome {
  readonly outputs: Outputs;
  /** What was done, in one sentence, for the summary: it is read for months, so its times are absolute. */
  readonly sentence: string;
  readonly tables: readonly Table[];
  /** Why the step fails; empty when it does not. */
  readonly failures: readonly string[];
  readonly annotations: readonly FileAnnotation[];
}

export const succeeded = (outputs: Outputs, sentence: string, ...tables: readonly Table[]): Outcome => ({
  outputs,
  sentence,
  tables,
  failures: [],
  annotations: [],
});

export const failed = (outputs: Outputs, reason: string, ...tables: readonly Table[]): Outcome => ({
  outputs,
  sentence: reason,
  tables,
  failures: [reason],
  annotations: [],
});

/** The results of one kind. */
export const ofKind = <Result extends { readonly kind: string }, Kind extends Result['kind']>(
  results: readonly Result[],
  kind: Kind,
): readonly Extract<Result, { readonly kind: Kind }>[] =>
  results.filter((result): result is Extract<Result, { readonly kind: Kind }> => result.kind === kind);

export const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path < other.path ? -1 : 1;
