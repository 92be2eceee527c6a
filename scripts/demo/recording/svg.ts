import { block } from '../terminal/chart.ts';
import type { ShownLine } from '../terminal/log-lines.ts';

const cell = { width: 8.4, height: 20 };
const margin = 20;
const barHeight = 14;
/** WCAG 2.2, 2.2.2 allows five seconds of motion. Not all browsers apply prefers-reduced-motion to images. */
const playSeconds = 5;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);

/** One decimal is precise enough for a picture, and keeps the file small. */
const short = (number: number): string => String(Math.round(number * 10) / 10);

/** The image has its own background, so that it is readable on any page. */
const style = `
text { font: 14px ui-monospace, monospace; fill: #1f2328; white-space: pre }
.background { fill: #f6f8fa; stroke: #d1d9e0 }
.heading { font-weight: bold }
text.quiet { fill: #59636e }
text.release { fill: #0757ad }
text.nightly { fill: #8a2e9b }
rect.release { fill: #218bff }
rect.nightly { fill: #a840bd }
rect.waited { fill-opacity: .3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .background { fill: #0d1117; stroke: #3d444d }
  text.quiet { fill: #9198a1 }
  text.release { fill: #79c0ff }
  text.nightly { fill: #e2a5f0 }
}
@media (prefers-reduced-motion: no-preference) {
  rect[style] { animation: grow linear backwards; transform-box: fill-box; transform-origin: left }
}
@keyframes grow { from { transform: scaleX(0) } }
`;

/** A bar, or words separated by single spaces. */
const pieces = new RegExp(
  `(?<bar>${block.held}+|${block.waited}+)|[^ ${block.held}${block.waited}]+(?: [^ ${block.held}${block.waited}]+)*`,
  'g',
);

/**
 * Draws lines of a terminal as a picture without external resources or scripts. The bars grow along the time axis; with
 * prefers-reduced-motion, they are static. Each piece has the width of its characters in any font.
 */
export function drawSvg(lines: readonly ShownLine[], title: string): string {
  const all = lines.flatMap(({ tone, indent, text }, row) =>
    [...text.matchAll(pieces)].map(({ 0: piece, index, groups }) => ({
      piece,
      tone,
      row,
      at: indent + index,
      isBar: groups?.['bar'] !== undefined,
    })),
  );
  const bars = all.filter(({ isBar }) => isBar);
  const firstBar = Math.min(...bars.map(({ at }) => at));
  const barColumns = Math.max(...bars.map(({ at, piece }) => at + piece.length)) - firstBar;
  const secondsOf = (count: number): string => short((count / barColumns) * playSeconds);
  const elements = all.map(({ piece, tone, row, at, isBar }) => {
    const x = short(margin + at * cell.width);
    const width = short(piece.length * cell.width);
    const top = margin + row * cell.height;
    if (!isBar) {
      return `<text class="${tone}" x="${x}" y="${top + 15}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escaped(piece)}</text>`;
    }
    const kind = piece.startsWith(block.waited) ? 'waited' : 'held';
    const grows = `animation-delay:${secondsOf(at - firstBar)}s;animation-duration:${secondsOf(piece.length)}s`;
    return `<rect class="${tone} ${kind}" x="${x}" y="${top + 3}" width="${width}" height="${barHeight}" style="${grows}"/>`;
  });
  const columns = Math.max(...all.map(({ at, piece }) => at + piece.length));
  const width = Math.ceil(2 * margin + columns * cell.width);
  const height = 2 * margin + lines.length * cell.height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${style}</style>
<rect class="background" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${elements.join('\n')}
</svg>
`;
}
