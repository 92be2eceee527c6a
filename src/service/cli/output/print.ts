import { safeText } from '../../safe-text.ts';
import type { Output } from '../process-io.ts';
import { safeJson } from './safe-text.ts';

/** Lines for a person. */
export function printLines(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${safeText(line)}\n`).join(''));
}

/** One document in one line, for a program. */
export function printJson(output: Output, document: unknown): void {
  output.write(`${safeJson(JSON.stringify(document))}\n`);
}
