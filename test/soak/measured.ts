import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { verdictOn } from '../../bench/benchmark.ts';
import { limitText, withUnit } from '../../bench/table.ts';
import { type FigureName, figureOf } from './figures.ts';
import { figuresFile, type Note, noteText } from './notes.ts';

function note(what: Note): void {
  const file = process.env[figuresFile];
  if (file !== undefined) appendFileSync(file, noteText(what));
}

/** Records a figure for the table of the soak test, and fails if it misses its limit. */
export function measured(name: FigureName, value: number, because: string | readonly string[] = []): void {
  note({ name, value });
  const { unit, limit } = figureOf(name);
  if (verdictOn({ name, value, unit, limit }) !== 'MISSED') return;
  const missed = `${name}: ${withUnit(value, unit)}, expected ${limitText(limit, unit)}. ${limit.reason}`;
  expect.fail([missed].concat(because).join('\n'));
}
