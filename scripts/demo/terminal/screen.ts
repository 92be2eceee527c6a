import type { ShownLine } from './log-lines.ts';
import type { Paint, Tone } from './paint.ts';
import { wrap } from './wrap.ts';

/** The name in front of a line. */
export type Speaker = Extract<Tone, 'console' | 'nightly' | 'release' | 'webhook'>;

export interface Screen {
  title(name: string, sentence: string): void;
  /** Starts a part of the story, with a sentence about what happens and why. */
  part(name: string, sentence: string): void;
  /** Shows the result of a part. */
  reached(sentence: string): void;
  /** Shows a line of one speaker. Several can write at the same time. */
  say(speaker: Speaker, line: ShownLine): void;
  lines(lines: readonly ShownLine[]): void;
}

export interface ScreenOptions {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** Maximum number of characters per line; Infinity disables wrapping. */
  readonly width: number;
}

/** Longer lines of prose are hard to read, even on a wide terminal. */
const widestProse = 100;

/** Indentation of the continuation of a wrapped line. */
const hanging = '  ';

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;

export function createScreen({ write, paint, width }: ScreenOptions): Screen {
  let parts = 0;
  const put = (
    before: string,
    beforeLength: number,
    { indent, tone, text, isRow }: ShownLine,
    beforeOthers = before,
  ): void => {
    const margin = ' '.repeat(indent);
    const room = width - beforeLength - indent;
    const [first = '', ...others] = isRow ? [cut(text, room)] : wrap(text, room - hanging.length);
    write(`${`${before}${margin}${paint(tone, first)}`.trimEnd()}\n`);
    const [blanks = ''] = /^ */.exec(text) ?? [];
    for (const other of others) write(`${beforeOthers}${margin}${blanks}${hanging}${paint(tone, other)}\n`);
  };
  const prose = (tone: Tone, text: string): void => {
    for (const line of wrap(text, Math.min(widestProse, width) - 2)) write(`  ${paint(tone, line)}\n`);
  };
  return {
    title(name, sentence) {
      write(`\n${paint('title', name)}\n`);
      prose('plain', sentence);
    },
    part(name, sentence) {
      parts += 1;
      write(`\n${paint('title', String(parts))} ${paint('heading', name)}\n`);
      prose('quiet', sentence);
      write('\n');
    },
    reached: (sentence) => put(`  ${paint('good', '✓')} `, 4, { indent: 0, tone: 'plain', text: sentence }, '  '),
    say: (speaker, line) => put(`  ${paint(speaker, `${speaker} │`)} `, speaker.length + 5, line),
    lines(lines) {
      for (const line of lines) put('  ', 2, line);
    },
  };
}
