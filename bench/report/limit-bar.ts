import { type Figure, verdictOn } from '../benchmark.ts';
import { element, type Markup } from './element.ts';

const width = 220;
const height = 14;
/** What is beyond the larger of both, so that the end of the bar is seen. */
const room = 1.1;

/** The figure as a bar, and its limit as a mark across; the arrow at the mark points to where a figure may be. Without one, it is to be at the mark. */
export function limitBar(figure: Figure): Markup | undefined {
  const { value, limit } = figure;
  if (limit === undefined || !Number.isFinite(value) || value < 0) return undefined;
  const whole = Math.max(value, limit.value) * room;
  const at = (number: number): number => (whole === 0 ? 0 : (number / whole) * width);
  const place = at(limit.value);
  const tip = limit.kind === 'at least' ? 5 : -5;
  return element(
    'svg',
    { class: 'bar', viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    element('rect', { class: 'track', x: 0, y: 3, width, height: height - 6 }),
    element('rect', { class: verdictOn(figure) ?? '', x: 0, y: 3, width: at(value), height: height - 6 }),
    element('line', { class: 'limit', x1: place, x2: place, y1: 0, y2: height }),
    ...(limit.kind === 'exactly'
      ? []
      : [
          element('polygon', {
            class: 'arrow',
            points: `${place.toFixed(1)},0 ${(place + tip).toFixed(1)},0 ${place.toFixed(1)},5`,
          }),
        ]),
  );
}
