import type { ShownLine } from './log-lines.ts';
import type { Speaker } from './screen.ts';

/** What a job had to do with a path for a while. Times in milliseconds since 1970. */
export interface Span {
  readonly path: string;
  readonly job: Extract<Speaker, 'nightly' | 'release'>;
  readonly kind: 'waited' | 'held';
  readonly from: number;
  readonly to: number;
}

/** A moment with a number under the bars, and what happened then. */
export interface Mark {
  readonly at: number;
  readonly text: string;
}

/** With it, the longest row fits the 80 columns of a terminal. */
const columns = 30;
const labelColumns = 11;

export const block = { waited: '░', held: '█' } as const;

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** Who held which path when: a bar for each job, the marks below, and what they mean. The marks are in their order. */
export function chartLines(spans: readonly Span[], marks: readonly Mark[]): readonly ShownLine[] {
  const begin = Math.min(...spans.map(({ from }) => from));
  const end = Math.max(...spans.map(({ to }) => to));
  const column = (time: number): number => Math.round(((time - begin) / Math.max(1, end - begin)) * columns);

  const rowOf = (job: Span['job'], own: readonly Span[]): ShownLine => {
    let bar = '';
    for (const { kind, from, to } of own) {
      // However short it was, it is seen.
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
