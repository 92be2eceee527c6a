interface Span {
  readonly what: string;
  readonly from: number;
  readonly to: number;
}

interface Row {
  readonly name: string;
  readonly spans: readonly Span[];
}

const utc = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`);

function rowsOf(code: string): readonly Row[] {
  const [, ...sections] = code.split(/^ *section /m);
  return sections.map((section) => {
    const [name = '', ...lines] = section.split('\n');
    const spans = lines.flatMap((line) => {
      const [, what = '', from, to] = /^ *([^:]+?) :\w+, ([\d :.-]+), ([\d :.-]+)$/.exec(line) ?? [];
      return from === undefined || to === undefined ? [] : [{ what, from: utc(from), to: utc(to) }];
    });
    return { name, spans };
  });
}

const columns = 32;

const inWords = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** The Gantt chart of a job's locks, which GitHub draws from its text, as bars of characters. */
export function pictureLines(code: string): readonly string[] {
  const rows = rowsOf(code);
  const spans = rows.flatMap((row) => row.spans);
  if (spans.length === 0) return code.trimEnd().split('\n');
  const begin = Math.min(...spans.map(({ from }) => from));
  const end = Math.max(...spans.map(({ to }) => to));
  const column = (time: number): number => Math.round(((time - begin) / Math.max(1, end - begin)) * columns);
  const longest = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(({ name, spans }) => {
    let bar = '';
    for (const { what, from, to } of spans) {
      // However short it was, it is seen.
      const start = Math.min(Math.max(bar.length, column(from)), columns - 1);
      bar = bar.slice(0, start).padEnd(start);
      bar += (what === 'waited' ? '░' : '█').repeat(Math.max(1, column(to) - start));
    }
    const words = spans.map(({ what, from, to }) => `${what} ${inWords(to - from)}`);
    return `${name.padEnd(longest)}  ${bar.padEnd(columns)}  ${words.join(', ')}`;
  });
}
