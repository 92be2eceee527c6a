import type { Tone } from './paint.ts';

export interface ShownLine {
  readonly indent: number;
  readonly tone: Tone;
  readonly text: string;
  /** A row of a table or a picture. If it does not fit, its end is cut off. */
  readonly isRow?: true;
}

const inGroup = 2;

/** Markers such as `##[error]` in the log of the runner. The page of a run shows them as colored text. */
const marked: Readonly<Record<string, { readonly tone: Tone; readonly before: string }>> = {
  debug: { tone: 'debug', before: '##[debug]' },
  error: { tone: 'error', before: 'Error: ' },
  notice: { tone: 'notice', before: 'Notice: ' },
  warning: { tone: 'warning', before: 'Warning: ' },
};

/** Formats the lines of one log like the page of a run, with all groups open. */
export function createLogLines(): (line: string) => ShownLine | undefined {
  let indent = 0;
  return (line) => {
    const [, mark = '', rest = ''] = /^##\[(\w+)\](.*)$/s.exec(line) ?? [];
    switch (mark) {
      case 'group':
        indent = inGroup;
        return { indent: 0, tone: 'heading', text: `▼ ${rest}` };
      case 'endgroup':
        indent = 0;
        return undefined;
    }
    const { tone, before } = marked[mark] ?? { tone: 'plain', before: undefined };
    return { indent, tone, text: before === undefined ? line : before + rest };
  };
}
