import { type Detail, type Figure, type Limit, verdictOn } from './benchmark.ts';
import { type BenchmarkResult, figuresOf, type Results, troubles, wasBusy } from './results.ts';

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

export type Row = readonly string[];

/** How wide each column is. */
export const widthsOf = (rows: readonly Row[]): readonly number[] =>
  (rows[0] ?? []).map((_, column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));

/** A line of the table. Columns are aligned to the left, but for those that `isNumber` accepts. */
export const rowText = (
  row: Row,
  widths: readonly number[],
  isNumber = (column: number): boolean => column === 1,
): string =>
  `  ${row
    .map((text, column) => (isNumber(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0)))
    .join('  ')}`.trimEnd();

export interface Table {
  readonly head: Row;
  readonly isNumber?: (column: number) => boolean;
  readonly rows: readonly Row[];
  /** Paragraphs below it. */
  readonly notes: readonly string[];
}

/** For a terminal. */
export function alignedTable({ head, rows, isNumber, notes }: Table): string {
  const all = head.join('') === '' ? rows : [head, ...rows];
  const widths = widthsOf(all);
  return [...all.map((row) => rowText(row, widths, isNumber)), ...notes.map((note) => `  ${note}`)].join('\n');
}

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[|<\\]/g, '\\$&');
const line = (row: Row): string => `| ${row.map(cell).join(' | ')} |`;

export const markdownTable = ({ head, isNumber = (column) => column === 1, rows, notes }: Table): string =>
  [
    line(head),
    `|${head.map((_, column) => (isNumber(column) ? '--:|' : '---|')).join('')}`,
    ...rows.map(line),
    ...notes.flatMap((note) => ['', cell(note)]),
  ].join('\n');

/** The page with this text anew between its comments `<!-- name: … -->` and `<!-- /name -->`. */
export function withText(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]* -->\\n).*?(<!-- /${name} -->)`, 's');
  if (!place.test(page)) throw new Error(`There is no place for a table in the page: <!-- ${name}: … -->.`);
  return page.replace(place, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`);
}

export function machineText({
  machine,
  loadBefore,
  loadAfter,
}: Pick<Results, 'machine' | 'loadBefore' | 'loadAfter'>): string {
  const { node, system, processors, processor, memoryBytes } = machine;
  const memory = `${numberText(memoryBytes / 2 ** 30)} GiB`;
  return `Node ${node} on ${system}, ${processors} × ${processor}, ${memory}; load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after.`;
}

export function busyText({ machine, loadBefore }: Pick<Results, 'machine' | 'loadBefore'>): string | undefined {
  if (!wasBusy(machine, loadBefore)) return undefined;
  return `The machine had other work to do when this began (load ${loadBefore.toFixed(1)}): measure again when it is quiet.`;
}

const rowOf = ({ name, value, unit, limit }: Figure): Row => [
  name,
  withUnit(value, unit),
  limit === undefined ? '' : limitText(limit, unit),
  verdictOn({ name, value, unit, limit }) ?? '',
];

function detailText(detail: Detail): string {
  const numbers =
    detail.kind === 'rounds'
      ? detail.values.map(numberText).join(', ')
      : detail.percentiles.map(([percent, value]) => `p${percent} ${numberText(value)}`).join(', ');
  return `      ${detail.name}: ${numbers} ${detail.unit}`.trimEnd();
}

/** So many rounds fit into a line; more of them are in the file of results alone. */
const maxShownRounds = 12;
const isShort = (detail: Detail): boolean => detail.kind === 'distribution' || detail.values.length <= maxShownRounds;

function linesOf(result: BenchmarkResult, widths: readonly number[]): readonly string[] {
  const head = ['', `${result.name}: ${result.what}`];
  if (result.kind === 'failed') return [...head, `  failed: ${result.why}`];
  const figures = result.figures.flatMap((figure) => [
    rowText(rowOf(figure), widths),
    ...(figure.details ?? []).filter(isShort).map(detailText),
  ]);
  const leftOut = (result.leftOut ?? []).map(({ name, reason }) => `  left out: ${name}. ${reason}`);
  return [...head, ...figures, ...leftOut];
}

/** All results, for a terminal. */
export function tableOf(results: Results): string {
  const widths = widthsOf(results.benchmarks.flatMap((result) => figuresOf(result).map(rowOf)));
  const missed = troubles(results);
  return [
    machineText(results),
    ...(results.quick ? ['Measured with --quick: the figures mean little.'] : []),
    ...results.benchmarks.flatMap((result) => linesOf(result, widths)),
    '',
    ...(missed.length === 0 ? ['Every limit is kept.'] : missed),
    ...[busyText(results)].filter((line) => line !== undefined),
    '',
  ].join('\n');
}

/** The figures that tell most, for a page: those of README.md, or those of docs/scaling.md with all that has a limit. */
export function figuresMarkdown(results: Results, where: NonNullable<Figure['shown']>): string {
  const isShown = ({ limit, shown }: Figure): boolean =>
    where === 'in README' ? shown === where : shown !== undefined || limit !== undefined;
  const rows = results.benchmarks.flatMap((result) => {
    const its = figuresOf(result).filter(isShown).map(rowOf);
    return where === 'in README' || its.length === 0 ? its : [[`**${result.what}**`, '', '', ''], ...its];
  });
  const leftOut = results.benchmarks.flatMap((result) => (result.kind === 'measured' ? (result.leftOut ?? []) : []));
  const notes = where === 'in README' ? [] : leftOut.map(({ name, reason }) => `Left out: ${name}. ${reason}`);
  const measured = [`Measured on ${results.date.slice(0, 10)}.`, machineText(results), busyText(results) ?? ''];
  return `${cell(measured.join(' ')).trim()}\n\n${markdownTable({ head: ['', 'Measured', 'Limit', ''], rows, notes })}`;
}
