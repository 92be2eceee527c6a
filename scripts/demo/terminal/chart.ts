import type { ShownLine } from './log-lines.ts';
import type { Speaker } from './screen.ts';

/** A time span in which a job waited for a path or held it. Times are in milliseconds since 1970. */
export interface Span {
  readonly path: string;
  readonly job: Extract<Speaker, 'nightly' | 'release'>;
  readonly kind: 'waited' | 'held';
  readonly from: number;
  readonly to: number;
}

/** An event, shown as a number below the bars, with its description. */
export interface Mark {
  readonly at: number;
  readonly text: string;
}

/** Width of the bars. The longest row fits the 80 columns of a terminal. */
const columns = 30;
const labelColumns = 11;

export const block = { waited: '░', held: '█' } as const;

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** Draws a bar for each path and job, with the marks and their descriptions below. Marks must be in order of time. */
export function chartLines(spans: readonly Span[], marks: readonly Mark[]): readonly ShownLine[] {
  const begin = Math.min(...spans.map(({ from }) => from));
  const end = Math.max(...spans.map(({ to }) => to));
  const column = (time: number): number => Math.round(((time - begin) / Math.max(1, end - begin)) * columns);

  const rowOf = (job: Span['job'], own: readonly Span[]): ShownLine => {
    let bar = '';
    for (const { kind, from, to } of own) {
      // Even the shortest span stays visible.
      const start = Math.min(Math.max(bar.length, column(from)), columns - 1);
      bar = bar.padEnd(start).slice(0, start) + block[kind].repeat(Math.max(1, column(to) - start));
    }
    const words = own.map(({ kind, from, to }) => `${kind} ${seconds(to - from)} s`).join(', ');
    const text = `${`  ${job}`.padEnd(labelColumns)}${bar.padEnd(columns)}  ${words}`;
    return { indent: 0, tone: job, text, isRow: true };
  };

  let axis = '';
  for (const [index, { at }] of marks.entries()) {
    const room = columns - (marks.length - index);
    axis = axis.padEnd(Math.min(Math.max(axis.length, column(at)), room)) + String(index + 1);
  }
  const plain = (text: string): ShownLine => ({ indent: 0, tone: 'plain', text });
  return [
    ...[...Map.groupBy(spans, ({ path }) => path)].flatMap(([path, onPath]) => [
      plain(path),
      ...[...Map.groupBy(onPath, ({ job }) => job)].map(([job, own]) => rowOf(job, own)),
    ]),
    { indent: 0, tone: 'heading', text: ' '.repeat(labelColumns) + axis, isRow: true },
    plain(''),
    ...marks.map(({ at, text }, index) => plain(`${index + 1}  ${seconds(at - begin).padStart(4)} s  ${text}`)),
  ];
}
