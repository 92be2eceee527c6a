import type { Tone } from './paint.ts';

export interface ShownLine {
  readonly indent: number;
  readonly tone: Tone;
  readonly text: string;
  /** A row of a table or a picture: where it does not fit, its end is cut off. */
  readonly isRow?: true;
}

const inGroup = 2;

/** `##[error]` and the like begin the lines of the runner's log that its page shows in other words, and coloured. */
const marked: Readonly<Record<string, { readonly tone: Tone; readonly before: string }>> = {
  debug: { tone: 'debug', before: '##[debug]' },
  error: { tone: 'error', before: 'Error: ' },
  notice: { tone: 'notice', before: 'Notice: ' },
  warning: { tone: 'warning', before: 'Warning: ' },
};

/** Shows the lines of one log as the page of a run does, where all groups are open. */
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
