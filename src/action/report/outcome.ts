/** The outcome of an operation, before anything is reported. */
export interface Outcome {
  readonly outputs: Outputs;
  /** The result in one sentence, for the summary. Its times are absolute, because a summary is read for months. */
  readonly sentence: string;
  readonly table?: Table | undefined;
  /** Markdown below the table. */
  readonly chart?: string | undefined;
  /** The reasons why the step fails; empty if it succeeds. */
  readonly failures: readonly string[];
  readonly annotations?: readonly FileAnnotation[];
}

/** A text, or a run URL, which is shown as a link with a name. */
export type Cell = string | { readonly run: string };

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** A link to the rows that a summary leaves out. */
  readonly rest?: { readonly text: string; readonly url: string } | undefined;
}

export type Outputs = { readonly [Name in OutputName]?: string };

export type OutputName = (typeof outputNames)[number];

export const outputNames = [
  'status',
  'sync_id',
  'branch',
  'estimated_objects',
  'clone_url',
  'missing_objects',
  'locks',
  'locks_file',
  'properties',
  'count',
  'acquired',
  'holder',
  'waited_seconds',
  'released',
  'hook_id',
  'workspaces',
  'branches',
] as const;

/**
 * The maximum length of a text for another step or job: an output or saved state becomes an environment variable there.
 * Windows allows 32,767 characters (`SetEnvironmentVariable`), Linux 128 KiB. The limit is the same on every system,
 * because jobs of one workflow can run on several.
 */
const maxVariableLength = 30_000;

export const fitsVariable = (text: string): boolean => text.length <= maxVariableLength;

export interface FileAnnotation {
  readonly file: string;
  readonly title: string;
  readonly text: string;
  /** Shown even if the step succeeds. */
  readonly isWarning?: boolean;
}

export const succeeded = (outputs: Outputs, sentence: string, table?: Table): Outcome => ({
  outputs,
  sentence,
  table,
  failures: [],
});

export const failed = (outputs: Outputs, reason: string, table?: Table): Outcome => ({
  outputs,
  sentence: reason,
  table,
  failures: [reason],
});

export const ofKind = <Result extends { readonly kind: string }, Kind extends Result['kind']>(
  results: readonly Result[],
  kind: Kind,
): readonly Extract<Result, { readonly kind: Kind }>[] =>
  results.filter((result): result is Extract<Result, { readonly kind: Kind }> => result.kind === kind);
