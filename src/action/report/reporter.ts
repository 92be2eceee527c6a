import { createRedactor } from '../../interface/redact.ts';
import type { Log } from '../log.ts';
import { type Outcome, type OutputName, type Outputs, outputNames } from '../outcome.ts';
import type { Told } from '../post-step/told.ts';
import { type Annotation, annotationsOf, mostAnnotations, mostWarnings } from './annotations.ts';
import { addSummary, setOutput } from './command-files.ts';
import { oneLine } from './safe-text.ts';
import { summaryHtml } from './summary.ts';
import { count } from './words.ts';
import * as commands from './workflow-commands.ts';

/** One environment string has at most 128 KiB, and outputs become such strings in later steps. */
const largestOutput = 100_000;

/** A person who unfolds a group wants to see what it was about, not a thousand lines. */
const longestGroup = 100;

/** Everything that a step tells: to its log, to later steps, to the summary. Nothing goes there but through here. */
export interface Reporter {
  readonly log: Log;
  publish(outputs: Outputs): void;
  /** What was wrong before anything was done. */
  refuse(problems: readonly string[]): void;
  finish(title: string, outcome: Outcome, withSummary: boolean): void;
  /** What became of the locks of a step. */
  tellRelease(told: Told, withSummary: boolean): void;
}

export function createReporter(secrets: readonly string[], redact = createRedactor(secrets)): Reporter {
  for (const secret of secrets) commands.setSecret(secret);
  const safe = (text: string): string => oneLine(redact(text));
  let warnings = 0;
  const leftEmpty = new Set<OutputName>();

  function warn(text: string): void {
    warnings += 1;
    // The last place is for how many more there are.
    if (warnings < mostWarnings) commands.warning(safe(text));
    else commands.info(safe(`Warning: ${text}`));
  }

  function group(title: string, lines: readonly string[]): void {
    if (lines.length === 0) {
      commands.info(safe(title));
      return;
    }
    commands.startGroup(safe(title));
    for (const line of lines.slice(0, longestGroup)) commands.info(`  ${safe(line)}`);
    if (lines.length > longestGroup) commands.info(`  And ${count(lines.length - longestGroup, 'more', 'more')}.`);
    commands.endGroup();
  }

  const log: Log = {
    line: (text) => commands.info(safe(text)),
    warn,
    debug: (text) => commands.debug(safe(text)),
    group,
  };

  const whereElse = (name: OutputName, { locks_file }: Outputs): string =>
    name === 'locks' && locks_file !== undefined ? ' Use the output `locks_file` instead.' : '';

  function publish(outputs: Outputs): void {
    for (const name of outputNames) {
      const value = outputs[name];
      if (value === undefined) continue;
      const text = redact(value);
      if (Buffer.byteLength(text) <= largestOutput) setOutput(name, text);
      else {
        setOutput(name, '');
        // What is written early is written again at the end of the step.
        if (leftEmpty.has(name)) continue;
        leftEmpty.add(name);
        warn(`The output \`${name}\` is too large for a step and has been left empty.${whereElse(name, outputs)}`);
      }
    }
  }

  function annotate({ text, title, file }: Annotation): void {
    // The runner masks the text of an annotation, and nothing else of it.
    commands.error(safe(text), {
      ...(title !== undefined && { title: safe(title) }),
      ...(file !== undefined && { file: safe(file) }),
    });
  }

  /** The last thing that a step says: what there was no place for is counted. */
  function tellErrors(failures: readonly string[], notes: Outcome['notes']): void {
    const hidden = warnings - (mostWarnings - 1);
    const { shown, others } = annotationsOf(failures, notes, mostAnnotations - Math.min(warnings, mostWarnings));
    if (others.length > 0) {
      group(
        `${count(others.length, 'more error')}:`,
        others.map(({ text }) => text),
      );
    }
    if (hidden > 0) commands.warning(`And ${count(hidden, 'more warning')}: see the log of the step.`);
    for (const annotation of shown) annotate(annotation);
  }

  function fail(failures: readonly string[], notes: Outcome['notes']): void {
    process.exitCode = 1;
    tellErrors(failures, notes);
  }

  function summarise(title: string, sentence: string, tables: Outcome['tables'], picture = ''): void {
    try {
      addSummary(summaryHtml(title, sentence, tables, redact) + picture);
    } catch (error) {
      warn(`The job summary could not be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    log,
    publish,
    refuse: (problems) => fail(problems, []),
    finish(title, { outputs, sentence, tables, failures, notes }, withSummary) {
      publish(outputs);
      if (withSummary) summarise(title, sentence, tables);
      if (failures.length > 0) fail(failures, notes);
      else tellErrors([], []);
    },
    tellRelease({ sentence, table, picture, failures, warnings: cautions, lines }, withSummary) {
      group(sentence, lines);
      for (const text of cautions) warn(text);
      if (withSummary) summarise('Workspace: locks at the end of the job', sentence, [table], picture);
      if (failures.length > 0) fail(failures, []);
      else tellErrors([], []);
    },
  };
}
