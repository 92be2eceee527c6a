import { clockTime, formatNumber } from '../../interface/format.ts';
import { byPath } from '../../interface/lock-path.ts';
import type { Redact } from '../../interface/redact.ts';
import type { JobLock } from '../../locks/ledger/history.ts';
import type { PathResult } from '../report/results.ts';

/** One lock in the chart. Times are in milliseconds since 1970. */
export interface Bar {
  readonly path: string;
  /** Time of the step's first request for the lock. */
  readonly requested: number;
  readonly granted: number;
  /** Time of the release or loss, or else the end of the chart. */
  readonly ended: number;
  readonly end: 'released' | 'not released' | 'lost';
}

/** A chart of how long a step waited for the locks that it was granted, and held them; undefined without any. */
export function chartOf(
  locks: Iterable<JobLock>,
  results: readonly PathResult[],
  now: number,
  redact: Redact,
): string | undefined {
  // A lost lock stays lost, even if the lock that replaced it was released.
  const inOrder = results.toSorted((one, other) => Number(one.result === 'lost') - Number(other.result === 'lost'));
  const resultOn = new Map(inOrder.map(({ path, result }) => [path, result]));
  // If a step was granted a path more than once, it holds the last of these locks.
  const last = new Map(Iterator.from(locks).map((lock) => [lock.grant.path, lock]));
  const bars = last.values().map(({ grant, loss, ending }): Bar => {
    const granted = Date.parse(grant.at);
    const lastEntry = loss ?? ending;
    const result = resultOn.get(grant.path);
    const isReleased = ending !== undefined || result === 'released' || result === 'already gone';
    return {
      path: redact(grant.path),
      requested: granted - grant.waitedMs,
      granted,
      ended: lastEntry === undefined ? now : Date.parse(lastEntry.at),
      end: result === 'lost' ? 'lost' : isReleased ? 'released' : 'not released',
    };
  });
  return gantt([...bars]);
}

/** As many rows as fit on a screen. The table next to the chart lists all locks. */
const maxRows = 30;

/** Markdown that GitHub renders as a chart of how long each lock was waited for and held; undefined without locks. */
export function gantt(bars: readonly Bar[]): string | undefined {
  const drawable = bars.filter(isDrawable).toSorted(byPath);
  if (drawable.length === 0) return undefined;
  const visible = drawable.slice(0, maxRows);
  const rows = visible.map(rowOf);
  const more = drawable.length - rows.length;
  const rest = more === 0 ? '' : `\nThe chart shows the first ${maxRows} of ${formatNumber(drawable.length)} locks.\n`;
  const [begin, end] = [
    Math.min(...visible.map(({ requested }) => requested)),
    Math.max(...visible.map(({ ended }) => ended)),
  ];
  // The axis shows neither the date nor the time zone.
  const title = `    title ${[...new Set([clockTime(begin), clockTime(end)])].join(' to ')}\n`;
  const format = '    dateFormat YYYY-MM-DD HH:mm:ss.SSS\n    axisFormat %H:%M:%S\n';
  return `\`\`\`mermaid\n${withColumnFor(visible.map(({ path }) => nameOf(path)))}gantt\n${title}${format}${rows.join('')}\`\`\`\n${rest}`;
}

/** Longer names keep their end, so that the name column takes at most a third of the chart. */
const maxNameLength = 36;

/** Most paths are plain. As in `safeText`, the classes of other letters are looked up only for paths that need them. */
const isPlain = /^[\w ./()+=-]*$/;
const meaningful = '[^\\p{L}\\p{M}\\p{N} ._/()+=-]';

/** Replaces characters that have a meaning in Mermaid or could end the code block. The table shows the actual path. */
function nameOf(path: string): string {
  const plain = isPlain.test(path) ? path : path.replace(new RegExp(meaningful, 'gu'), '_');
  const letters = [...plain];
  return letters.length <= maxNameLength ? plain : `…${letters.slice(1 - maxNameLength).join('')}`;
}

/** A shorter wait would be only a stripe in front of its bar. */
const minWaitMs = 1_000;

function rowOf({ path, requested, granted, ended, end }: Bar): string {
  const requestedAt = Math.round(requested);
  const since = Math.round(granted);
  const until = Math.max(Math.round(ended), since + 1);
  const waited = since - requestedAt >= minWaitMs ? `    waited :done, ${utc(requestedAt)}, ${utc(since)}\n` : '';
  const held = end === 'released' ? 'held :active' : `${end} :crit`;
  return `    section ${nameOf(path)}\n${waited}    ${held}, ${utc(since)}, ${utc(until)}\n`;
}

/** Mermaid shows a time without a zone unchanged. With a zone, it would convert the time to the reader's zone. */
const utc = (time: number): string => new Date(time).toISOString().replace('T', ' ').replace('Z', '');

/** Sets the width of the name column, because the default is too narrow for a path. */
const withColumnFor = (names: readonly string[]): string =>
  `%%{init: {"gantt": {"leftPadding": ${Math.max(...names.map(widthOf)) + 20}}}}%%\n`;

/** Maximum width in pixels: Mermaid uses a font size of 11, and letters of non-Latin scripts can be square. */
const widthOf = (name: string): number => [...name].reduce((width, letter) => width + (letter < '\u0300' ? 8 : 11), 0);

/** Mermaid cannot draw times before 1970, or years with more than four digits. */
const isDrawable = ({ requested, granted, ended }: Bar): boolean =>
  [requested, granted, ended].every((time) => time >= 0 && time < Date.UTC(9_999, 11));
