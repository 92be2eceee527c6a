import { errorMessage } from '../../interface/format.ts';

/** The outcome of an operation, before anything is reported. */
export interface Outcome {
  readonly outputs: Outputs;
  /** The result in one sentence, for the log and the summary. If it is a failure, the log omits it. */
  readonly sentence: string;
  /** Details that unfold below the sentence in the log. */
  readonly lines?: readonly string[];
  readonly warnings?: readonly string[];
  readonly table?: Table | undefined;
  /** Markdown below the table. */
  readonly chart?: string | undefined;
  /** Why the step fails; empty if it succeeds. */
  readonly failures: readonly string[];
  readonly annotations?: readonly FileAnnotation[];
}

/** A text, or a run URL, which is shown as a link with a name. */
export type Cell = string | { readonly run: string };

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Outputs = { readonly [Name in OutputName]?: string | undefined };

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
 * Maximum length of a text for another step or job, where an output or saved state becomes an environment variable.
 * Windows allows 32,767 characters (`SetEnvironmentVariable`), and Linux 128 KiB. The limit is the same on all systems,
 * because jobs of one workflow may run on several.
 */
const maxVariableLength = 30_000;

export const fitsVariable = (text: string): boolean => text.length <= maxVariableLength;

export interface FileAnnotation {
  readonly file: string;
  readonly title: string;
  readonly text: string;
  readonly isWarning?: boolean;
}

export const failed = (outputs: Outputs, reason: string, table?: Table): Outcome => ({
  outputs,
  sentence: reason,
  table,
  failures: [reason],
});

/** Formats an error for users. A bug in the action is called one, so that nobody looks for it in their network. */
export function errorText(error: unknown): string {
  const text = errorMessage(error);
  if (!isFault(error)) return text;
  return `Internal error: ${text.replace(/\.$/, '')}. This is a bug in the action: report it with the log of a run that has debug logging enabled.`;
}

/** Errors that the language and Node throw for wrong code. Errors of the action have sentences, and other classes. */
const faults = [TypeError, RangeError, ReferenceError, SyntaxError, URIError];

export const isFault = (error: unknown): boolean =>
  faults.some((fault) => error instanceof fault) ||
  (error instanceof Error && 'code' in error && /^ERR_|^MODULE_NOT_FOUND$/.test(String(error.code)));
