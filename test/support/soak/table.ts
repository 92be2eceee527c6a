import { type Verdict, verdictOn } from '../../../bench/benchmark.ts';
import { missedSentences } from '../../../bench/results.ts';
import { alignedTable, limitText, type Row, withUnit } from '../../../bench/table.ts';
import type { Declared } from './figures.ts';
import type { Note } from './notes.ts';

/** A file of tests, with the figures that are to come from it. */
export interface Part {
  readonly file: string;
  readonly figures: Readonly<Record<string, Declared>>;
  /** Why a test of it was left out; undefined when none was. */
  readonly leftOut?: string | undefined;
}

/** A figure and what became of it. One that did not come is missed, unless its test was left out. */
export type Judged = { readonly name: string } & Pick<Declared, 'unit' | 'limit'> &
  (
    | { readonly kind: 'measured'; readonly value: number; readonly verdict: Verdict }
    | { readonly kind: 'not measured'; readonly verdict: 'MISSED' }
    | { readonly kind: 'left out'; readonly verdict: 'left out' }
  );

/** What is farthest on the wrong side of the limit; what is no number is farther than any. */
function worst(values: readonly number[], { kind, value: limit }: Declared['limit']): number {
  switch (kind) {
    case 'at least':
      return Math.min(...values);
    case 'at most':
      return Math.max(...values);
    case 'exactly':
      return values.find((value) => value !== limit) ?? limit;
  }
}

function judge(name: string, declared: Declared, notes: readonly Note[], leftOut: boolean): Judged {
  const { unit, limit, sum = false } = declared;
  const values = notes.filter((note) => note.name === name).map(({ value }) => value);
  if (values.length === 0) {
    if (leftOut) return { name, unit, limit, kind: 'left out', verdict: 'left out' };
    return { name, unit, limit, kind: 'not measured', verdict: 'MISSED' };
  }
  const value = sum ? values.reduce((total, one) => total + one) : worst(values, limit);
  return { name, unit, limit, kind: 'measured', value, verdict: verdictOn({ name, value, unit, limit }) ?? 'MISSED' };
}

const rowOf = (judged: Judged): Row => [
  judged.name,
  judged.kind === 'measured' ? withUnit(judged.value, judged.unit) : judged.kind,
  limitText(judged.limit, judged.unit),
  judged.kind === 'left out' ? '' : judged.verdict,
];

export interface SoakTable {
  readonly text: string;
  readonly missed: number;
}

/** All figures of these parts, as lines for a terminal. */
export function soakTable(parts: readonly Part[], notes: readonly Note[]): SoakTable {
  const judged = parts.map(({ file, figures, leftOut: why }) => ({
    file,
    why,
    its: Object.entries(figures).map(([name, declared]) => judge(name, declared, notes, why !== undefined)),
  }));
  const rows = judged.flatMap(({ file, its }) => [[file, '', '', ''], ...its.map(rowOf)]);
  const leftOut = judged.flatMap(({ file, why }) => (why === undefined ? [] : [`${file} left out: ${why}`]));
  const missed = judged.flatMap(({ its }) => its).filter(({ verdict }) => verdict === 'MISSED').length;
  const end = missed === 0 ? ['Every limit is kept.'] : missedSentences(missed);
  return { text: [alignedTable({ head: ['', '', '', ''], rows, notes: leftOut }), '', ...end].join('\n'), missed };
}
