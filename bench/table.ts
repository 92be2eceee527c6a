import { type Detail, type Figure, type Limit, verdictOn } from './benchmark.ts';
import { wasBusy } from './machine.ts';
import { numberText, withUnit } from './numbers.ts';
import { type BenchmarkResult, type Results, troubles } from './results.ts';

/** The results as lines for a terminal. */

export const limitText = ({ kind, value }: Limit, unit: string): string => `${kind} ${withUnit(value, unit)}`;

function detailText(detail: Detail): string {
  const numbers =
    detail.kind === 'rounds'
      ? detail.values.map(numberText).join(', ')
      : detail.percentiles.map(([percent, value]) => `p${percent} ${numberText(value)}`).join(', ');
  return `${detail.name}: ${numbers} ${detail.unit}`.trim();
}

/** So many rounds are a line; more of them are for the file of results. */
const mostShown = 12;
const isShort = (detail: Detail): boolean => detail.kind === 'distribution' || detail.values.length <= mostShown;

export type Row = readonly [name: string, value: string, limit: string, verdict: string];

type Widths = readonly [name: number, value: number, limit: number];

/** What makes columns of the rows. */
export function widthsOf(rows: readonly Row[]): Widths {
  const width = (column: 0 | 1 | 2): number => Math.max(0, ...rows.map((row) => row[column].length));
  return [width(0), width(1), width(2)];
}

export const rowText = ([name, value, limit, verdict]: Row, widths: Widths): string =>
  `  ${name.padEnd(widths[0])}  ${value.padStart(widths[1])}  ${limit.padEnd(widths[2])}  ${verdict}`.trimEnd();

const rowOf = (figure: Figure): Row => [
  figure.name,
  withUnit(figure.value, figure.unit),
  figure.limit === undefined ? '' : limitText(figure.limit, figure.unit),
  verdictOn(figure) ?? '',
];

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

function linesOf(result: BenchmarkResult, widths: Widths): readonly string[] {
  const head = ['', `${result.name}: ${result.what}`];
  if (result.kind === 'failed') return [...head, `  failed: ${result.why}`];
  const figures = result.figures.flatMap((figure) => {
    const details = (figure.details ?? []).filter(isShort).map((detail) => `      ${detailText(detail)}`);
    return [rowText(rowOf(figure), widths), ...details];
  });
  const leftOut = (result.leftOut ?? []).map(({ name, reason }) => `  left out: ${name}. ${reason}`);
  return [...head, ...figures, ...leftOut];
}

export function tableOf(results: Results): string {
  const rows = results.benchmarks.flatMap((result) => (result.kind === 'measured' ? result.figures.map(rowOf) : []));
  const widths = widthsOf(rows);
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
