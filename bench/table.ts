import { markdownTable, plain, type Row } from '../scripts/markdown.ts';
import { type Figure, type Limit, verdictOn } from './benchmark.ts';
import { figuresOf, type Results, troubles, wasBusy } from './results.ts';

/** Three significant digits, with thousands separators: further digits would be noise. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const withUnit = (value: number, unit: string): string => `${numberText(value)} ${unit}`.trim();

const limitText = ({ kind, value }: Limit, unit: string): string => `${kind} ${withUnit(value, unit)}`;

const isNumber = (column: number): boolean => column === 1;

function alignedTable(rows: readonly Row[], notes: readonly string[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    widths.map((width, column) => row[column]?.[isNumber(column) ? 'padStart' : 'padEnd'](width)).join('  '),
  );
  return [...lines, ...notes].map((line) => `  ${line}`.trimEnd()).join('\n');
}

type Circumstances = Pick<Results, 'machine' | 'loadBefore' | 'loadAfter'>;

export function machineText({ machine, loadBefore, loadAfter }: Circumstances): string {
  const { node, system, processors, processor, memoryBytes } = machine;
  const memory = `${numberText(memoryBytes / 2 ** 30)} GiB`;
  return `Node ${node} on ${system}, ${processors} × ${processor}, ${memory}; load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after.`;
}

const busyText = ({ machine, loadBefore }: Circumstances): string | undefined =>
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

/** All figures, for a terminal. The values of each round are only in results.json. */
export function terminalText(results: Results): string {
  const rows = results.benchmarks.flatMap((result) => [headRow(`${result.name}:`), ...figuresOf(result).map(rowOf)]);
  const missed = troubles(results);
  const lines = [
    machineText(results),
    results.quick ? 'Measured with --quick: the figures are not meaningful.' : undefined,
    alignedTable(rows, leftOutIn(results)),
    ...(missed.length === 0 ? ['All limits were kept.'] : missed),
    busyText(results),
  ];
  return `${lines.filter((line) => line !== undefined).join('\n\n')}\n`;
}

const signs = { 'at least': '≥', 'at most': '≤', exactly: '=' } as const;

/** A figure's limit, for a table where it stands behind the value. */
export function limitNote(figure: Figure): string {
  if (figure.limit === undefined) return '';
  const missed = verdictOn(figure) === 'MISSED' ? ', MISSED' : '';
  return ` (${signs[figure.limit.kind]} ${numberText(figure.limit.value)}${missed})`;
}

/** The figures for docs/scaling.md: those marked as shown, each missed limit, and the number of other limits. */
export function figuresMarkdown(results: Results): string {
  const isShown = (each: Figure): boolean => each.shown === true || verdictOn(each) === 'MISSED';
  const rowFor = (figure: Figure): Row => [figure.name, withUnit(figure.value, figure.unit) + limitNote(figure)];
  const figures = results.benchmarks.flatMap(figuresOf);
  const rows = figures.filter(isShown).map(rowFor);
  const kept = figures.filter((each) => !isShown(each) && each.limit !== undefined).length;
  const notes = [`${kept} more limits were kept.`, ...leftOutIn(results)];
  const measured = [`Measured on ${results.date.slice(0, 10)}.`, machineText(results), busyText(results) ?? ''];
  return `${plain(measured.join(' '))}\n\n${[markdownTable(['', 'Measured, and its limit'], rows, isNumber), ...notes.map(plain)].join('\n\n')}`;
}
