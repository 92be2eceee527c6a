import type { Chart } from '../benchmark.ts';
import { numberText } from '../numbers.ts';
import { element, type Markup } from './element.ts';
import { scaleOf } from './scale.ts';

const width = 640;
const height = 280;
const left = 64;
const right = 24;
const top = 12;
const bottom = 44;

/** As many colours as the style of the page has. */
const colours = 6;

/** Up to so many values of x are written where they are, and not at round numbers. */
const mostNamed = 10;

const isDrawable = ([x, y]: readonly [number, number]): boolean => Number.isFinite(x) && Number.isFinite(y);

/** Lines with a dot at each point, whose text is shown when the pointer rests on it. */
export function lineChart({ title, x, y, lines }: Chart): Markup {
  const drawn = lines.map(({ name, points }) => ({ name, points: points.filter(isDrawable) }));
  const all = drawn.flatMap(({ points }) => points);
  const scaleX = scaleOf(
    x,
    all.map(([value]) => value),
  );
  const scaleY = scaleOf(
    y,
    all.map(([, value]) => value),
  );
  const atX = (value: number): number => left + scaleX.at(value) * (width - left - right);
  const atY = (value: number): number => height - bottom - scaleY.at(value) * (height - top - bottom);
  const places = [...new Set(all.map(([value]) => value))].sort((one, other) => one - other);
  const ticksX = places.length <= mostNamed ? places : scaleX.ticks;

  const rules = scaleY.ticks.flatMap((tick) => [
    element('line', { class: 'rule', x1: left, x2: width - right, y1: atY(tick), y2: atY(tick) }),
    element('text', { x: left - 8, y: atY(tick) + 4, 'text-anchor': 'end' }, numberText(tick)),
  ]);
  const below = ticksX.map((tick) =>
    element('text', { x: atX(tick), y: height - bottom + 18, 'text-anchor': 'middle' }, numberText(tick)),
  );
  const curves = drawn.flatMap(({ name, points }, index) => {
    const colour = `line-${index % colours}`;
    const path = points.map(([px, py]) => `${atX(px).toFixed(1)},${atY(py).toFixed(1)}`).join(' ');
    return [
      element('polyline', { class: `curve ${colour}`, points: path }),
      ...points.map(([px, py]) =>
        element(
          'circle',
          { class: `dot ${colour}`, cx: atX(px), cy: atY(py), r: 4 },
          element('title', {}, `${name}: ${numberText(px)} ${x.label}, ${numberText(py)} ${y.label}`),
        ),
      ),
    ];
  });
  const names = [
    element('text', { class: 'axis', x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, x.label),
    element(
      'text',
      { class: 'axis', transform: `translate(14 ${(height - bottom + top) / 2}) rotate(-90)`, 'text-anchor': 'middle' },
      y.label,
    ),
  ];
  const legend = drawn.map(({ name }, index) =>
    element('li', {}, element('span', { class: `swatch line-${index % colours}` }), name),
  );
  return element(
    'figure',
    {},
    element('figcaption', {}, title),
    element('ul', { class: 'legend' }, ...legend),
    element(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title },
      ...rules,
      ...below,
      ...curves,
      ...names,
    ),
  );
}
