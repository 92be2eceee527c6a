import * as core from '@actions/core';
import type { Log } from '../log.ts';
import { type Outcome, type OutputName, type Outputs, outputNames } from '../outcome.ts';
import type { Told } from '../post-step/told.ts';
import { annotationsOf } from './annotations.ts';
import { createRedactor, oneLine } from './safe-text.ts';
import { summaryHtml } from './summary.ts';

/** One environment string has at most 128 KiB, and outputs become such strings in later steps. */
const largestOutput = 100_000;

const whereElse: { readonly [Name in OutputName]?: string } = {
  locks: ' Use the output `locks_file` instead.',
};

/** Everything that a step tells: to its log, to later steps, to the summary. Nothing goes there but through here. */
export interface Reporter {
  readonly log: Log;
  publish(outputs: Outputs): void;
  /** What was wrong before anything was done. */
  refuse(problems: readonly string[]): void;
  finish(title: string, outcome: Outcome, withSummary: boolean): Promise<void>;
  /** What became of the locks of a step; none of it fails the job. */
  tellRelease(told: Told, withSummary: boolean): Promise<void>;
}

export function createReporter(secrets: readonly string[]): Reporter {
  for (const secret of secrets) core.setSecret(secret);
  const redact = createRedactor(secrets);
  const safe = (text: string): string => oneLine(redact(text));

  const log: Log = {
    line: (text) => core.info(safe(text)),
    warn: (text) => core.warning(safe(text)),
    debug: (text) => core.debug(safe(text)),
    group(title, lines) {
      if (lines.length === 0) {
        core.info(safe(title));
        return;
      }
      core.startGroup(safe(title));
      for (const line of lines) core.info(`  ${safe(line)}`);
      core.endGroup();
    },
  };

  function publish(outputs: Outputs): void {
    for (const name of outputNames) {
      const value = outputs[name];
      if (value === undefined) continue;
      const text = redact(value);
      if (Buffer.byteLength(text) <= largestOutput) core.setOutput(name, text);
      else {
        core.setOutput(name, '');
        log.warn(`The output \`${name}\` is too large for a step and has been left empty.${whereElse[name] ?? ''}`);
      }
    }
  }

  function fail(failures: readonly string[], notes: Outcome['notes']): void {
    process.exitCode = core.ExitCode.Failure;
    for (const { text, ...properties } of annotationsOf(failures, notes)) core.error(safe(text), properties);
  }

  async function summarise(title: string, sentence: string, tables: Outcome['tables']): Promise<void> {
    if (process.env['GITHUB_STEP_SUMMARY'] === undefined) return;
    try {
      await core.summary.addRaw(redact(summaryHtml(title, sentence, tables))).write();
    } catch (error) {
      log.warn(`The job summary could not be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    log,
    publish,
    refuse: (problems) => fail(problems, []),
    async finish(title, { outputs, sentence, tables, failures, notes }, withSummary) {
      publish(outputs);
      if (failures.length > 0) fail(failures, notes);
      if (withSummary) await summarise(title, sentence, tables);
    },
    async tellRelease({ sentence, table, errors, warnings, lines }, withSummary) {
      log.group(sentence, lines);
      for (const { text } of annotationsOf(errors, [])) core.error(safe(text));
      for (const text of warnings) log.warn(text);
      if (withSummary) await summarise('Workspace: locks at the end of the job', sentence, [table]);
    },
  };
}
