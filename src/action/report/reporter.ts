import * as core from '@actions/core';
import { errorMessage, pluralize } from '../../interface/format.ts';
import { createRedactor, type Redact } from '../../interface/redact.ts';
import { oneLine } from './escape.ts';
import {
  errorText,
  type FileAnnotation,
  fitsVariable,
  type Outcome,
  type OutputName,
  type Outputs,
  outputNames,
} from './outcome.ts';
import { summaryHtml } from './summary.ts';

/** People who unfold a group want an overview, not a thousand lines. */
const maxGroupLines = 100;

/** The runner keeps ten errors and ten warnings of a step, and silently drops the rest. */
const maxAnnotations = 10;

const write = { error: core.error, warning: core.warning };

export type Reporter = ReturnType<typeof createReporter>;

/** The only access to the runner: log, masks, outputs, annotations and job summary. */
export function createReporter(secrets: readonly string[]) {
  const masked: string[] = [];
  let redactor: Redact | undefined;
  function redact(text: string): string {
    redactor ??= createRedactor([...secrets, ...masked]);
    return redactor(text);
  }
  for (const secret of secrets) maskInLog(secret);
  const clean = (text: string): string => oneLine(redact(text));
  const { annotate, reportHidden } = createAnnotations(clean);

  /** Logs details that unfold below a title. */
  function group(title: string, lines: readonly string[]): void {
    if (lines.length === 0) {
      core.info(clean(title));
      return;
    }
    core.startGroup(clean(title));
    for (const line of lines.slice(0, maxGroupLines)) core.info(`  ${clean(line)}`);
    if (lines.length > maxGroupLines) core.info(`  And ${pluralize(lines.length - maxGroupLines, 'more', 'more')}.`);
    core.endGroup();
  }

  function setOutputs(outputs: Outputs): void {
    for (const name of outputNames) {
      const value = outputs[name];
      if (value === undefined) continue;
      // Secrets of a pool are for the next steps. The runner masks them in the log.
      const text = name === 'properties' ? value : redact(value);
      // The runner reads outputs from this file. Without the file, the toolkit would print them.
      if (name === 'properties' && !process.env['GITHUB_OUTPUT']) continue;
      if (fitsOutput(name, text)) {
        core.setOutput(name, text);
        continue;
      }
      core.setOutput(name, '');
      const advice = name === 'locks' && outputs.locks_file !== undefined ? useFile : '';
      log.warn(`The output \`${name}\` is too large for a step and was left empty.${advice}`);
    }
  }

  /** The last report of a step. */
  function end(failures: readonly string[], onFiles: readonly FileAnnotation[] = []): void {
    for (const text of failures) annotate('error', text);
    for (const one of onFiles) annotate(one.isWarning ? 'warning' : 'error', one.text, one);
    reportHidden();
    if (failures.length > 0) process.exitCode = core.ExitCode.Failure;
  }

  async function summarize(title: string, { sentence, table, chart = '' }: Outcome): Promise<void> {
    // Outside a workflow, there is no summary.
    if (!process.env['GITHUB_STEP_SUMMARY']) return;
    try {
      await core.summary.addRaw(summaryHtml(title, sentence, table, redact) + chart).write();
    } catch (error) {
      log.warn(`Could not write the job summary: ${errorMessage(error)}`);
    }
  }

  /** Keeps secrets and workflow commands out of the log, whatever the texts contain. */
  const log = {
    line: (text: string): void => core.info(clean(text)),
    warn: (text: string): void => annotate('warning', text),
    /** Writes only to the runner's debug log. */
    debug: (text: string): void => core.debug(clean(text)),
  };
  return {
    log,
    redact,
    /** Keeps the secret out of everything that the step reports from now on. */
    mask(secret: string): void {
      maskInLog(secret);
      masked.push(secret);
      redactor = undefined;
    },
    /** Sets outputs that later steps can rely on, even if this step fails afterwards. */
    setOutputs,
    /** Formats an error for users. The debug log has its stack. */
    explain(error: unknown): string {
      if (error instanceof Error) for (const line of (error.stack ?? '').split('\n')) log.debug(line);
      return errorText(error);
    },
    /** Fails the step before it has done anything. */
    failEarly: (problems: readonly string[]): void => end(problems),
    /** Reports the end of the step. */
    async finish(title: string, outcome: Outcome, withSummary: boolean): Promise<void> {
      const { outputs, sentence, lines = [], warnings = [], failures, annotations = [] } = outcome;
      if (!failures.includes(sentence)) group(sentence, lines);
      for (const text of warnings) log.warn(text);
      setOutputs(outputs);
      if (withSummary) await summarize(title, outcome);
      end(failures, annotations);
    },
  };
}

const useFile =
  ' Use the output `locks_file` instead. To pass the locks to another job, upload that file as an artifact.';

function createAnnotations(clean: (text: string) => string) {
  const annotated = { error: 0, warning: 0 };

  /** Annotations beyond the limit become lines of the log. */
  function annotate(level: 'error' | 'warning', text: string, { title, file }: Partial<FileAnnotation> = {}): void {
    annotated[level] += 1;
    if (annotated[level] < maxAnnotations) {
      // The runner masks the text of an annotation, but not its properties.
      write[level](clean(text), {
        ...(title !== undefined && { title: clean(title) }),
        ...(file !== undefined && { file: clean(file) }),
      });
    } else if (annotated[level] < maxAnnotations + maxGroupLines) {
      core.info(clean(`${level === 'error' ? 'Error' : 'Warning'}: ${text}`));
    }
  }

  /** The last annotation counts those that did not fit. */
  function reportHidden(): void {
    for (const level of ['warning', 'error'] as const) {
      const hidden = annotated[level] - (maxAnnotations - 1);
      const inLog =
        hidden > maxGroupLines ? `the log of the step has the first ${maxGroupLines}` : 'see the log of the step';
      if (hidden > 0) write[level](`And ${pluralize(hidden, `more ${level}`)}: ${inLog}.`);
    }
  }

  return { annotate, reportHidden };
}

/** A list of locks may go to jobs on any system. Other outputs stay in the job, where Linux allows 128 KiB. */
const fitsOutput = (name: OutputName, text: string): boolean =>
  name === 'locks' ? fitsVariable(text) : Buffer.byteLength(text) <= 100_000;

/** Elsewhere, this command would show the secret in the log. Gitea, Forgejo and act set the variable, too. */
function maskInLog(secret: string): void {
  if (process.env['GITHUB_ACTIONS'] === 'true') core.setSecret(secret);
}
