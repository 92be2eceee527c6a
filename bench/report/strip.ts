import type { Detail } from '../benchmark.ts';
import { numberText, withUnit } from '../numbers.ts';
import { medianOf } from '../statistics.ts';
import { element, type Markup } from './element.ts';
import { scaleOf } from './scale.ts';

const width = 640;
const height = 46;
const side = 24;
const line = 16;

interface Mark {
  readonly value: number;
  readonly told: string;
}

function marksOf(detail: Detail): readonly Mark[] {
  switch (detail.kind) {
    case 'rounds':
      return detail.values.map((value, index) => ({
        value,
        told: `round ${index + 1}: ${withUnit(value, detail.unit)}`,
      }));
    case 'distribution':
      return detail.percentiles.map(([percent, value]) => ({
        value,
        told: `${percent} % are at ${withUnit(value, detail.unit)} or below`,
      }));
  }
}

/** A few values that are worth a number below them. */
function named(detail: Detail): readonly (readonly [value: number, text: string])[] {
  if (detail.kind === 'distribution')
    return detail.percentiles.map(([percent, value]) => [value, `p${percent} ${numberText(value)}`]);
  const { median } = medianOf(detail.values);
  const ends = [Math.min(...detail.values), Math.max(...detail.values)];
  return detail.values.length === 1
    ? [[median, numberText(median)]]
    : [...ends.map((value) => [value, numberText(value)] as const), [median, `median ${numberText(median)}`]];
}

/** The width that a text of so many characters has at most. */
const widthOf = (text: string): number => text.length * 6.5 + 8;

/** All that a figure was made of, as dots on one line. */
export function strip(detail: Detail): Markup | undefined {
  const marks = marksOf(detail).filter(({ value }) => Number.isFinite(value));
  if (marks.length === 0) return undefined;
  const scale = scaleOf(
    { scale: 'linear' },
    marks.map(({ value }) => value),
  );
  const at = (value: number): number => side + scale.at(value) * (width - 2 * side);
  // From the right, where they are closest to each other least: one that would lie on another is left out.
  let free = width;
  const texts = named(detail)
    .toSorted(([one], [other]) => other - one)
    .flatMap(([value, text]) => {
      const half = widthOf(text) / 2;
      const middle = Math.max(half, Math.min(at(value), width - half));
      if (middle + half > free) return [];
      free = middle - half;
      return [element('text', { x: middle, y: height - 6, 'text-anchor': 'middle' }, text)];
    });
  return element(
    'svg',
    { class: 'strip', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${detail.name}, ${detail.unit}` },
    element('line', { class: 'rule', x1: side, x2: width - side, y1: line, y2: line }),
    ...marks.map(({ value, told }) =>
      element('circle', { class: 'mark', cx: at(value), cy: line, r: 4 }, element('title', {}, told)),
    ),
    ...texts,
  );
}
