import * as core from '@actions/core';
import { errorMessage, formatNumber, pluralize, runName } from '../../interface/format.ts';
import type { Redact } from '../../interface/redact.ts';
import {
  type Cell,
  type FileAnnotation,
  fitsVariable,
  type Outcome,
  type OutputName,
  type Outputs,
  outputNames,
  type Table,
  textAt,
} from './outcome.ts';
import { createSecretRedactor } from './redact.ts';

/** Readers who unfold a group want an overview, not a thousand lines. */
const maxGroupLines = 100;

/** GitHub shows ten annotations of a step and silently drops the rest. */
const maxAnnotations = 10;

/** Leaves room for the failures of the step. The last warning counts those that did not fit. */
const maxWarnings = 4;

/** The log of a step. No secret and no workflow command gets into it, whatever the texts contain. */
export interface Log {
  line(text: string): void;
  warn(text: string): void;
  /** Writes only to the runner's debug log. */
  debug(text: string): void;
  /** Logs details that unfold below a title. */
  group(title: string, lines: readonly string[]): void;
}

export type Reporter = ReturnType<typeof createReporter>;

type Annotation = Partial<Omit<FileAnnotation, 'text'>> & Pick<FileAnnotation, 'text'>;

/** The only access to the runner: log, masks, outputs, annotations and job summary. */
export function createReporter(secrets: readonly string[]) {
  const { redact, add } = createSecretRedactor(secrets);
  for (const secret of secrets) maskInLog(secret);
  const clean = (text: string): string => oneLine(redact(text));
  let warnings = 0;
  const emptyOutputs = new Set<OutputName>();

  function warn(text: string): void {
    warnings += 1;
    if (warnings < maxWarnings) core.warning(clean(text));
    else core.info(clean(`Warning: ${text}`));
  }

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
      // The secrets of a pool are for the next steps. The runner masks them in the log.
      const text = name === 'properties' ? value : redact(value);
      // The runner reads outputs from this file. Without it, the toolkit would print them.
      if (name === 'properties' && !process.env['GITHUB_OUTPUT']) continue;
      if (fitsOutput(name, text)) {
        core.setOutput(name, text);
        continue;
      }
      core.setOutput(name, '');
      // Outputs that are set early are set again at the end of the step.
      if (emptyOutputs.has(name)) continue;
      emptyOutputs.add(name);
      const advice =
        name === 'locks' && outputs.locks_file !== undefined
          ? ' Use the output `locks_file` instead. To pass the locks to another job, upload that file as an artifact.'
          : '';
      warn(`The output \`${name}\` is too large for a step and was left empty.${advice}`);
    }
  }

  function annotate({ text, title, file, isWarning }: Annotation): void {
    const write = isWarning ? core.warning : core.error;
    // The runner masks the text of an annotation, but not its properties.
    write(clean(text), {
      ...(title !== undefined && { title: clean(title) }),
      ...(file !== undefined && { file: clean(file) }),
    });
  }

  /** The last report of a step: failures first, then annotations on files, and the number that did not fit. */
  function annotateFailures(failures: readonly string[], onFiles: readonly FileAnnotation[]): void {
    const all: readonly Annotation[] = [...failures.map((text) => ({ text })), ...onFiles];
    const room = maxAnnotations - Math.min(warnings, maxWarnings);
    const visible = all.length <= room ? all : all.slice(0, room - 1);
    const others = all.slice(visible.length);
    if (others.length > 0) {
      group(
        `${pluralize(others.length, failures.length > 0 ? 'more error' : 'more warning')}:`,
        others.map(({ text }) => text),
      );
    }
    const hiddenWarnings = warnings - (maxWarnings - 1);
    if (hiddenWarnings > 0) core.warning(`And ${pluralize(hiddenWarnings, 'more warning')}: see the log of the step.`);
    for (const annotation of visible) annotate(annotation);
    if (others.length > 0) {
      const text = `And ${formatNumber(others.length)} more: see the log of the step.`;
      annotate({ text, isWarning: failures.length === 0 });
    }
    if (failures.length > 0) process.exitCode = core.ExitCode.Failure;
  }

  async function summarize(title: string, { sentence, table, chart = '' }: Outcome): Promise<void> {
    // Outside a workflow, there is no summary.
    if (!process.env['GITHUB_STEP_SUMMARY']) return;
    try {
      await core.summary.addRaw(summaryHtml(title, textAt(sentence), table, redact) + chart).write();
    } catch (error) {
      warn(`Could not write the job summary: ${errorMessage(error)}`);
    }
  }

  const log: Log = { line: (text) => core.info(clean(text)), warn, debug: (text) => core.debug(clean(text)), group };
  return {
    log,
    redact,
    /** Keeps the secret out of everything that the step reports from now on. */
    mask(secret: string): void {
      maskInLog(secret);
      add(secret);
    },
    setOutputs,
    /** Fails the step before it has done anything. */
    failEarly: (problems: readonly string[]): void => annotateFailures(problems, []),
    /** Reports the end of the step. `now` is the time by the clock of the service, if that is known. */
    async finish(title: string, outcome: Outcome, withSummary: boolean, now?: number): Promise<void> {
      const { outputs, sentence, lines = [], notes = [], warnings: texts = [], failures, annotations = [] } = outcome;
      if (!failures.includes(sentence)) group(textAt(sentence, now), lines);
      for (const note of notes) log.line(note);
      for (const text of texts) warn(text);
      setOutputs(outputs);
      if (withSummary) await summarize(title, outcome);
      annotateFailures(
        failures.map((text) => textAt(text, now)),
        annotations.filter(({ isWarning }) => isWarning || failures.length > 0),
      );
    },
  };
}

/**
 * One sentence, then the table, as HTML with untrusted text escaped. Secrets are redacted first: escaped, they might not
 * be recognized.
 */
export const summaryHtml = (title: string, sentence: string, table: Table | undefined, redact: Redact): string =>
  `<h3>${inHtml(title)}</h3>\n<p>${withCode(inHtml(truncate(redact(sentence), maxSentenceLength)))}</p>\n${tableHtml(table, redact)}\n`;

/** The first rows matter most. GitHub drops the complete summary of a step if it is larger than 1 MiB. */
const maxRows = 50;
const maxCellLength = 300;
const maxSentenceLength = 4_000;

const truncate = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

function tableHtml({ head, rows, rest }: Table = { head: [], rows: [] }, redact: Redact): string {
  if (rows.length === 0) return '';
  const visible = rows.slice(0, maxRows).map((row) => rowHtml('td', row, redact));
  const table = `<table>\n${rowHtml('th', head, redact)}${visible.join('')}</table>\n`;
  const restLink = rest === undefined ? '' : `: ${link(redact(rest.text), redact(rest.url))}`;
  const omitted = rows.length - visible.length;
  return omitted === 0 ? table : `${table}<p>And ${formatNumber(omitted)} more${restLink}.</p>\n`;
}

const rowHtml = (tag: 'th' | 'td', row: readonly Cell[], redact: Redact): string =>
  `<tr>${row.map((cell) => `<${tag}>${cellHtml(cell, redact)}</${tag}>`).join('')}</tr>\n`;

function cellHtml(cell: Cell, redact: Redact): string {
  if (typeof cell === 'string') return inHtml(truncate(redact(cell), maxCellLength));
  const url = truncate(redact(cell.run), maxCellLength);
  const name = runName(url);
  return name === undefined ? inHtml(url) : link(name, url);
}

const link = (text: string, url: string): string => `<a href="${inAttribute(url)}">${inHtml(text)}</a>`;

/** Shows texts in backticks as code, because Markdown is not interpreted here. Backticks inside a path mean nothing. */
const withCode = (html: string): string => html.replace(/(?<![^\s(])`([^`]+)`(?!\w)/g, '<code>$1</code>');

/** A list of locks may go to jobs on any system. Other outputs are for steps of the same job: Linux allows 128 KiB. */
const fitsOutput = (name: OutputName, text: string): boolean =>
  name === 'locks' ? fitsVariable(text) : Buffer.byteLength(text) <= 100_000;

/** Elsewhere, this command would show the secret in the log. Gitea, Forgejo and act also set the variable. */
function maskInLog(secret: string): void {
  if (process.env['GITHUB_ACTIONS'] === 'true') core.setSecret(secret);
}

/** The last three would start a mention, an issue reference or an emoji: GitHub also processes the rendered text. */
const htmlSpelling: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '@': '@<wbr>',
  '#': '#<wbr>',
  ':': ':<wbr>',
};

/** Escapes untrusted text for HTML. GitHub does not interpret Markdown inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

/** Escapes untrusted text for an attribute in double quotes. */
const inAttribute = (text: string): string =>
  oneLine(text).replace(/[&<>"']/g, (character) => htmlSpelling[character] ?? character);

/** C0, DEL, C1, the two Unicode line breaks, and the bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

/**
 * Untrusted text for one log line: it can start neither a new line nor a workflow command. The runner recognizes `::`
 * at the start of a line, and `##[` anywhere (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
