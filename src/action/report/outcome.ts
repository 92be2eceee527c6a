/** The outcome of an operation, before anything is reported. */
export interface Outcome {
  readonly outputs: Outputs;
  /** The result in one sentence, for the log and the summary. The log leaves it out if it is a failure. */
  readonly sentence: Text;
  /** Details that unfold below the sentence in the log. */
  readonly lines?: readonly string[];
  /** More lines of the log. */
  readonly notes?: readonly string[];
  readonly warnings?: readonly string[];
  readonly table?: Table | undefined;
  /** Markdown below the table. */
  readonly chart?: string | undefined;
  /** The reasons why the step fails; empty if it succeeds. */
  readonly failures: readonly Text[];
  readonly annotations?: readonly FileAnnotation[];
}

/** A text with times: relative to `now` in the log, and absolute in a summary, which is read for months. */
export type Text = string | ((now?: number) => string);

export const textAt = (text: Text, now?: number): string => (typeof text === 'string' ? text : text(now));

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

export const failed = (outputs: Outputs, reason: Text, table?: Table): Outcome => ({
  outputs,
  sentence: reason,
  table,
  failures: [reason],
});
