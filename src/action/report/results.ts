import { formatNumber, formatTime, timeCell } from '../../interface/format.ts';
import type { Table } from './table.ts';

/** What a step found or did, most important first. */
const order = [
  'lost',
  'not released',
  'may still be locked',
  'unknown',
  'left alone',
  'already gone',
  'not locked',
  'kept',
  'released',
] as const;

/** The result for one path. */
export interface PathResult {
  readonly path: string;
  readonly result: (typeof order)[number];
  /** The current holder, unless it is this job. */
  readonly holder?: { readonly owner?: string | undefined } | 'nobody' | undefined;
  /** When the current lock expires. */
  readonly until?: string | undefined;
}

/** The sentence, the table and the log of a step with a result for each path. `begin` counts the results `main`. */
export function reportResults(
  results: readonly PathResult[],
  { main, begin, rest }: { readonly main: PathResult['result']; readonly begin: string; readonly rest: Table['rest'] },
  now: number,
) {
  const sorted = results.toSorted(
    (one, other) => order.indexOf(one.result) - order.indexOf(other.result) || (one.path < other.path ? -1 : 1),
  );
  const counts = [...Map.groupBy(sorted, ({ result }) => result)].filter(([result]) => result !== main);
  const table: Table = {
    head: ['Path', 'Result', 'Held by', 'Until'],
    rows: sorted.map(({ path, result, holder, until }) => [path, result, holderName(holder), timeCell(until)]),
    rest,
  };
  return {
    sentence: `${begin}${counts.map(([result, { length }]) => `, ${formatNumber(length)} ${result}`).join('')}.`,
    tables: [table],
    lines: sorted.map(({ path, result, holder, until }) => {
      // The output of another job may have any text in place of a time.
      const time = Date.parse(until ?? '');
      const held = holder === undefined ? '' : `, held by ${holderName(holder)}`;
      return `${path}: ${result}${held}${Number.isNaN(time) ? '' : ` until ${formatTime(time, now)}`}`;
    }),
  };
}

const holderName = (holder: PathResult['holder']): string =>
  holder === undefined || holder === 'nobody' ? (holder ?? '') : (holder.owner ?? 'someone else');
