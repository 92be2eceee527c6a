import { grouped } from '../report/words.ts';

/** One lock in the picture. Times in milliseconds since 1970. */
export interface Bar {
  readonly path: string;
  /** When the step first asked for it. */
  readonly asked: number;
  readonly granted: number;
  /** When it was released; of one that was not, the end of the picture. */
  readonly ended: number;
  readonly released: boolean;
}

/** More rows than fit on a screen show nothing: the table beside it has all locks. */
const mostRows = 30;

/** A wait that is too short to be seen would only be a stripe in front of each bar. */
const shortestWaitMs = 1_000;

const longestName = 60;

/**
 * A path as the name of a row. Of all characters only those that mean nothing to Mermaid and cannot end the block of
 * code stay as they are; the table has the path in full.
 */
function nameOf(path: string): string {
  const plain = path.replace(/[^\p{L}\p{M}\p{N} ._/()+=-]/gu, '_');
  const letters = [...plain];
  return letters.length <= longestName ? plain : `…${letters.slice(1 - longestName).join('')}`;
}

function rowOf({ path, asked, granted, ended, released }: Bar): string {
  const from = Math.round(asked);
  const since = Math.round(granted);
  const until = Math.max(Math.round(ended), since + 1);
  const waited = since - from >= shortestWaitMs ? `    waited :done, ${from}, ${since}\n` : '';
  const held = released ? 'held :active' : 'not released :crit';
  return `    section ${nameOf(path)}\n${waited}    ${held}, ${since}, ${until}\n`;
}

/** Mermaid reads no time before 1970. */
const isDrawable = ({ asked, granted, ended }: Bar): boolean =>
  [asked, granted, ended].every((time) => time >= 0 && Number.isFinite(time));

/** A block of Markdown that GitHub draws as a picture of each lock's wait and hold; undefined when there is nothing to draw. */
export function gantt(bars: readonly Bar[]): string | undefined {
  const drawable = bars.filter(isDrawable).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  if (drawable.length === 0) return undefined;
  const rows = drawable.slice(0, mostRows).map(rowOf);
  const more = drawable.length - rows.length;
  const rest = more === 0 ? '' : `\nThe picture shows the first ${mostRows} of ${grouped(drawable.length)} locks.\n`;
  return `\`\`\`mermaid\ngantt\n    dateFormat x\n    axisFormat %H:%M:%S\n${rows.join('')}\`\`\`\n${rest}`;
}
