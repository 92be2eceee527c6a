import { markdownTable, plain, type Row } from '../docs/markdown.ts';
import { type Figure, type Limit, verdictOn } from './benchmark.ts';
import { figuresOf, type Results, troubles, wasBusy } from './results.ts';

/** Tables: as aligned lines for a terminal, and as Markdown between two comments of a page. */

/** Three significant digits, and thousands apart: what is noise is not shown. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const withUnit = (value: number, unit: string): string => `${numberText(value)} ${unit}`.trim();

export const limitText = ({ kind, value }: Limit, unit: string): string => `${kind} ${withUnit(value, unit)}`;

export interface Table {
  readonly head: Row;
  /** Of which columns the texts are aligned to the right: the second, if not given. */
  readonly isNumber?: (column: number) => boolean;
  readonly rows: readonly Row[];
  /** Paragraphs below it. */
  readonly notes: readonly string[];
}

const isSecond = (column: number): boolean => column === 1;

/** For a terminal. */
export function alignedTable({ head, rows, isNumber = isSecond, notes }: Table): string {
  const all = head.join('') === '' ? rows : [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    widths.map((width, column) => row[column]?.[isNumber(column) ? 'padStart' : 'padEnd'](width)).join('  '),
  );
  return [...lines, ...notes].map((line) => `  ${line}`.trimEnd()).join('\n');
}

export const markdownText = ({ head, isNumber = isSecond, rows, notes }: Table): string =>
  [markdownTable(head, rows, isNumber), ...notes.map(plain)].join('\n\n');

type Circumstances = Pick<Results, 'machine' | 'loadBefore' | 'loadAfter'>;

export function machineText({ machine, loadBefore, loadAfter }: Circumstances): string {
  const { node, system, processors, processor, memoryBytes } = machine;
  const memory = `${numberText(memoryBytes / 2 ** 30)} GiB`;
  return `Node ${node} on ${system}, ${processors} × ${processor}, ${memory}; load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after.`;
}

export const busyText = ({ machine, loadBefore }: Circumstances): string | undefined =>
  wasBusy(machine, loadBefore)
    ? `The machine was not idle at the start (load ${loadBefore.toFixed(1)}): repeat the run on an idle machine.`
    : undefined;

const rowOf = ({ name, value, unit, limit }: Figure): Row => [
  name,
  withUnit(value, unit),
  limit === undefined ? '' : limitText(limit, unit),
  verdictOn({ name, value, unit, limit }) ?? '',
];

const headRow = (text: string): Row => [text, '', '', ''];
const head = ['', 'Measured', 'Limit', ''];

const leftOutIn = ({ benchmarks }: Results): readonly string[] =>
  benchmarks.flatMap((result) =>
    result.kind === 'failed' ? [] : (result.leftOut ?? []).map(({ name, reason }) => `Left out: ${name}. ${reason}`),
  );

/** All figures, for a terminal. What was measured in each round is in the file of results alone. */
export function terminalText(results: Results): string {
  const rows = results.benchmarks.flatMap((result) => [headRow(`${result.name}:`), ...figuresOf(result).map(rowOf)]);
  const missed = troubles(results);
  const lines = [
    machineText(results),
    results.quick ? 'Measured with --quick: the figures mean little.' : undefined,
    alignedTable({ head, rows, notes: leftOutIn(results) }),
    ...(missed.length === 0 ? ['Every limit is kept.'] : missed),
    busyText(results),
  ];
  return `${lines.filter((line) => line !== undefined).join('\n\n')}\n`;
}

/** The figures that tell most, for a page: those of README.md, or those of docs/scaling.md with all that has a limit. */
export function figuresMarkdown(results: Results, where: NonNullable<Figure['shown']>): string {
  const isShown = ({ limit, shown }: Figure): boolean =>
    where === 'in README' ? shown === where : shown !== undefined || limit !== undefined;
  const rows = results.benchmarks.flatMap((result) => {
    const its = figuresOf(result).filter(isShown).map(rowOf);
    return where === 'in README' || its.length === 0 ? its : [headRow(`**${result.what}**`), ...its];
  });
  const notes = where === 'in README' ? [] : leftOutIn(results);
  const measured = [`Measured on ${results.date.slice(0, 10)}.`, machineText(results), busyText(results) ?? ''];
  return `${plain(measured.join(' '))}\n\n${markdownText({ head, rows, notes })}`;
}
