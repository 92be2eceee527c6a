import { formatSpan } from './duration.ts';

interface Received {
  readonly bytes: number;
  readonly total: number;
}

/** Older samples say little about the current speed. */
const windowMs = 30_000;
const minMs = 1_000;

/** Returns a function that formats the recent speed and the time left: "12 MB/s, 3 min left". */
export function createPace(): (received: Received, now: number) => string {
  let samples: readonly { readonly at: number; readonly bytes: number }[] = [];
  return ({ bytes, total }, now) => {
    const last = samples.at(-1);
    // The transfer was restarted.
    if (last !== undefined && bytes < last.bytes) samples = [];
    samples = [...samples.filter(({ at }) => now - at <= windowMs), { at: now, bytes }];
    const [first] = samples;
    if (first === undefined || now - first.at < minMs || bytes === first.bytes) return '';
    const perSecond = ((bytes - first.bytes) * 1_000) / (now - first.at);
    const left = bytes < total ? `, ${formatSpan((total - bytes) / perSecond)} left` : '';
    return `${byteSize(perSecond)}/s${left}`;
  };
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** "512 B", "1.25 GB": with three digits. */
export function byteSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1_000 ** power).toPrecision(3))} ${units[power]}`;
}
