import { html } from 'hono/html';
import { plural } from '../assets/text.js';
import { duration, type Markup } from '../elements/text.ts';

interface ChartedSync {
  readonly milliseconds: number;
  readonly failed: boolean;
}

const height = 64;
/** Space above the bars, for the cross of a failed sync. */
const headroom = 14;
const widest = 600;
const slots = { narrowest: 10, widest: 24 };
const bottom = headroom + height;

/** Bars for finished syncs, oldest first. The table below contains the same numbers. */
export function durationChart(syncs: readonly ChartedSync[]): Markup {
  const longest = Math.max(1, ...syncs.map(({ milliseconds }) => milliseconds));
  const slot = Math.min(slots.widest, Math.max(slots.narrowest, Math.floor(widest / syncs.length)));
  const width = slot * syncs.length;
  const someFailed = syncs.some(({ failed }) => failed);
  return html`<figure class="durations">
    <svg role="img" aria-label="${chartSentence(syncs)}" viewBox="0 0 ${width} ${bottom + 1}" width="${width}" height="${bottom + 1}">
      ${syncs.map((sync, index) => bar(sync, index, slot, longest))}
      <path class="ground" d="M0 ${bottom + 0.5}h${width}"/>
    </svg>
    <figcaption class="hint">Durations of the syncs on this page, oldest on the left. The highest bar is ${duration(longest)}.${someFailed ? ' A hollow bar with a cross is a failed sync.' : ''}</figcaption>
  </figure>`;
}

/** The chart in words, for screen readers. */
export function chartSentence(syncs: readonly ChartedSync[]): string {
  const times = syncs.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  const [median = 0, longest = 0] = [times[Math.floor((times.length - 1) / 2)], times.at(-1)];
  const failed = syncs.filter((sync) => sync.failed).length;
  const failures = failed === 0 ? 'None failed.' : `${failed.toLocaleString('en-US')} failed.`;
  return `Durations of ${plural(syncs.length, 'sync')}, oldest on the left: median ${duration(median)}, longest ${duration(longest)}. ${failures}`;
}

const gap = 3;
/** Minimum height of a bar, so that every sync is visible. */
const lowest = 2;

function bar({ milliseconds, failed }: ChartedSync, index: number, slot: number, longest: number): Markup {
  const tall = Math.max(lowest, Math.round((milliseconds / longest) * height));
  const [left, top, wide] = [index * slot + gap / 2, bottom - tall, slot - gap];
  const middle = left + wide / 2;
  const cross = `M${middle - 3} ${top - 9}l6 6m0 -6l-6 6`;
  return html`<g${failed ? html` class="failed"` : ''}><title>${duration(milliseconds)}${failed ? ', failed' : ''}</title><rect x="${left}" y="${top}" width="${wide}" height="${tall}"/>${failed ? html`<path d="${cross}"/>` : ''}</g>`;
}
