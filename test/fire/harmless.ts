import { expect } from 'vitest';
import { outputNames } from '../../src/action/report/outcome.ts';
import type { StepResult } from '../support/runner/step.ts';
import { parseCommand, type WorkflowCommand } from '../support/runner/step-log.ts';
import { summaryShape } from '../support/summary-shape.ts';

/** The workflow commands that the action itself writes. */
const ours: ReadonlySet<string> = new Set(['add-mask', 'debug', 'endgroup', 'error', 'group', 'warning']);

/** Characters that move a cursor, start a line or change the direction of text. */
const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** A source position in a stack trace. Before a fraction, a Z or a percent sign, such numbers are a time of day. */
const stackFrame = /\bat .*[:(/][^ ]*:\d+:\d+(?!\d|\.\d|[zZ%])/;

/** Names of JavaScript errors, which no expected message contains. */
const unforeseen =
  /\b(Type|Range|Reference|Syntax|Aggregate)Error\b|Invalid (time value|URL|array length)|Maximum call/;

const minute = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d';
const time = `${minute}:\\d\\d\\.\\d{3}`;

/** A line of a code block with a diagram, where a path is the name of a section. */
const pictureLine = new RegExp(
  `^(|gantt|\`\`\`|%%\\{init: \\{"gantt": \\{"leftPadding": \\d+\\}\\}\\}%%| {4}(title ${minute} UTC(?: to ${minute} UTC)?|dateFormat YYYY-MM-DD HH:mm:ss\\.SSS|axisFormat %H:%M:%S|section …?[\\p{L}\\p{M}\\p{N} ._/()+=-]+|(held :active|waited :done|(?:not released|lost) :crit), ${time}, ${time}))$`,
  'u',
);

/** Parses a command only where the action writes one: at the very start of a line, and never in its older form. */
function commandOf(line: string): WorkflowCommand | undefined {
  const command = parseCommand(line);
  if (command === undefined) {
    expect(line).not.toMatch(/##\[.*\]/);
    return undefined;
  }
  expect(line).toMatch(/^::/);
  expect(ours).toContain(command.name);
  for (const key of command.properties.keys()) expect(['title', 'file']).toContain(key);
  return command;
}

/**
 * Checks the log, the outputs and the summary of a step with any inputs and responses. The runner must find only our
 * commands, a terminal no control characters, and a reader no stack traces or secrets. A failed step gives a reason.
 */
export function expectHarmless(result: StepResult, stage: 'main' | 'post', secrets: readonly string[] = []): void {
  const said: Record<'error' | 'warning', string[]> = { error: [], warning: [] };
  for (const line of result.written) {
    const command = commandOf(line);
    // The runner needs the plain secret, and shows none of these lines.
    if (command?.name === 'add-mask') continue;
    expect(line).not.toMatch(unsafe);
    for (const secret of secrets) expect(line).not.toContain(secret);
    if (command?.name === 'debug') {
      expect(command.data).not.toMatch(/^(?!ServiceError)\w*Error\b/);
      continue;
    }
    const text = command?.data ?? line;
    expect(text).not.toMatch(stackFrame);
    if (command?.name === 'error' || command?.name === 'warning') said[command.name].push(text);
  }
  for (const text of [...said.error, ...said.warning]) {
    expect(text.trim().length, text).toBeGreaterThan(8);
    expect(text).not.toMatch(unforeseen);
  }
  if (stage === 'main') expect(said.error.length > 0).toBe(result.exitCode === 1);
  // A lock that was lost to another holder fails the job.
  else expect(result.exitCode).toBe(said.error.some((text) => text.includes('This job lost its lock on')) ? 1 : 0);

  for (const [name, value] of Object.entries(result.outputs)) {
    expect(outputNames).toContain(name);
    for (const secret of secrets) expect(value).not.toContain(secret);
  }
  const [table = '', picture = ''] = result.summary.split('\n```mermaid\n');
  if (table !== '') expect(`${table.trimEnd()}\n\n`).toMatch(summaryShape);
  for (const line of picture.split('\n')) expect(line).toMatch(pictureLine);
  for (const secret of secrets) expect(result.summary).not.toContain(secret);
}
