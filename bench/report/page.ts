import { type Figure, verdictOn } from '../benchmark.ts';
import { withUnit } from '../numbers.ts';
import { type BenchmarkResult, type Results, troubles } from '../results.ts';
import { busyText, limitText, machineText } from '../table.ts';
import { type Child, element, type Markup } from './element.ts';
import { limitBar } from './limit-bar.ts';
import { lineChart } from './line-chart.ts';
import { strip } from './strip.ts';
import { style } from './style.ts';

/** The results as a page that is one file, and asks nobody for anything. */

const isThere = <T>(one: T | undefined): one is T => one !== undefined;

const paragraph = (text: string, kind = ''): Markup => element('p', kind === '' ? {} : { class: kind }, text);

function row(figure: Figure): Markup {
  const { name, value, unit, limit } = figure;
  const verdict = verdictOn(figure);
  const asked: readonly Child[] =
    limit === undefined
      ? []
      : [limitText(limit, unit), element('small', {}, limit.why), limitBar(figure)].filter(isThere);
  return element(
    'tr',
    {},
    element('td', {}, name),
    element('td', { class: 'number' }, withUnit(value, unit)),
    element('td', {}, ...asked),
    element('td', { class: `verdict ${verdict ?? ''}` }, verdict ?? ''),
  );
}

const figuresTable = (figures: readonly Figure[]): Markup =>
  element(
    'div',
    { class: 'wide' },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', {}, 'Figure'),
          element('th', { class: 'number' }, 'Measured'),
          element('th', {}, 'Limit'),
          element('th', {}, ''),
        ),
      ),
      element('tbody', {}, ...figures.map(row)),
    ),
  );

function madeOf(figures: readonly Figure[]): readonly Markup[] {
  const strips = figures.flatMap(({ name, details = [] }) =>
    details.flatMap((detail) => {
      const drawn = strip(detail);
      if (drawn === undefined) return [];
      const title = [name, detail.name].join(', ') + (detail.unit === '' ? '' : ` (${detail.unit})`);
      return [element('figure', {}, element('figcaption', {}, title), drawn)];
    }),
  );
  return strips.length === 0
    ? []
    : [element('details', {}, element('summary', {}, 'What the figures are made of'), ...strips)];
}

function section(result: BenchmarkResult): Markup {
  const head = [element('h2', {}, result.name), paragraph(result.what, 'faint')];
  switch (result.kind) {
    case 'failed':
      return element('section', {}, ...head, paragraph(`Failed: ${result.why}`, 'verdict MISSED'));
    case 'measured':
      return element(
        'section',
        {},
        ...head,
        ...(result.figures.length === 0 ? [] : [figuresTable(result.figures)]),
        ...(result.leftOut ?? []).map(({ name, reason }) => paragraph(`Left out: ${name}. ${reason}`, 'faint')),
        ...(result.charts ?? []).map(lineChart),
        ...madeOf(result.figures),
      );
  }
}

/** Even if something were to come in, a browser would load nothing and run nothing. */
const policy = "default-src 'none'; style-src 'unsafe-inline'";

export function pageOf(results: Results): string {
  const trouble = troubles(results);
  const body = element(
    'body',
    {},
    element('h1', {}, 'How fast it is'),
    element(
      'p',
      {},
      'Measured on ',
      element('time', { datetime: results.date }, results.date.slice(0, 10)),
      ` by npm run bench${results.quick ? ' -- --quick: the figures mean little' : ''}.`,
    ),
    paragraph(machineText(results), 'faint'),
    ...[busyText(results)].filter(isThere).map((text) => paragraph(text, 'verdict')),
    trouble.length === 0
      ? paragraph('Every limit is kept.', 'verdict kept')
      : paragraph(trouble.join(' '), 'verdict MISSED'),
    ...results.benchmarks.map(section),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>How fast it is</title>
<style>${style}</style>
</head>
${body.html}
</html>
`;
}
