import { safeText } from '../../dashboard/assets/text.js';
import type { Output } from './log-output.ts';
import { safeJson } from './safe-text.ts';

/** Lines for a person. */
export function printLines(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${safeText(line)}\n`).join(''));
}

/** One document in one line, for a program. */
export function printJson(output: Output, document: unknown): void {
  output.write(`${safeJson(JSON.stringify(document))}\n`);
}
