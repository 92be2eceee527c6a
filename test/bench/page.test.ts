import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atLeast, type Chart } from '../../bench/benchmark.ts';
import { element } from '../../bench/report/element.ts';
import { pageOf } from '../../bench/report/page.ts';
import { runs } from '../support/runs.ts';
import { someFigure, someResults } from './some-results.ts';

const chart = (name: string, points: readonly (readonly [number, number])[]): Chart => ({
  title: name,
  x: { label: name, scale: 'logarithmic' },
  y: { label: name, scale: 'linear' },
  lines: [{ name, points }],
});

const pageWith = (text: string, values: readonly number[]): string =>
  pageOf(
    someResults({
      figures: values.map((value) =>
        someFigure({
          name: text,
          unit: text,
          value,
          limit: atLeast(3, text),
          details: [
            { kind: 'rounds', name: text, unit: text, values },
            { kind: 'distribution', name: text, unit: text, percentiles: values.map((each) => [50, each]) },
          ],
        }),
      ),
      charts: [
        chart(
          text,
          values.map((value) => [value, value]),
        ),
      ],
      leftOut: [{ name: text, reason: text }],
    }),
  );

/** These are never closed. */
const voids = new Set(['meta', '!doctype']);

const piece = /([^<]+)|<(\/?)([a-z!][a-z0-9]*)(?: [a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)*>/g;

/** The text of the page, if each tag is closed in the order in which they were opened. */
function readWell(html: string): string {
  const open: string[] = [];
  let text = '';
  for (const [whole, content, closing, name = ''] of html.matchAll(piece)) {
    if (content !== undefined) text += whole;
    else if (closing === '/') expect(open.pop()).toBe(name);
    else if (!voids.has(name)) open.push(name);
  }
  expect(open).toEqual([]);
  // All of it was a tag or text.
  expect(html.replaceAll(piece, '')).toBe('');
  return text;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

test('whatever names and numbers there are, the page is well-formed and shows them as they are', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.double(), { maxLength: 5 }), (text, values) => {
      const read = readWell(pageWith(text, values)).replaceAll(
        /&(?:amp|lt|gt|quot|#39);/g,
        (one) => entities[one] ?? one,
      );
      expect(read).toContain(`Left out: ${text}. ${text}`);
    }),
    { numRuns: runs(40, 5_000), examples: [['', [5e-324, -5e-324]]] },
  );
});

test('the page asks nobody for anything, and runs nothing', () => {
  const html = pageWith('<script src="https://example.com/a.js"></script><img onerror="x()">', [1, 20, 300]);
  expect(html).not.toMatch(/<(?:script|link|img|iframe|object|embed|base|image|use|a)\b/);
  expect(html).not.toMatch(/\s(?:src|href|srcset|on[a-z]+|xlink:href)\s*=\s*"/);
  expect(html).not.toMatch(/url\(|@import|@font-face/);
  expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src`);
});

test('text is escaped also where it is an attribute', () => {
  expect(element('p', { title: `"<&'>` }, `"<&'>`).html).toBe(
    '<p title="&quot;&lt;&amp;&#39;&gt;">&quot;&lt;&amp;&#39;&gt;</p>',
  );
});

test('all that is drawn lies in its picture', () => {
  const points = fc.array(
    fc.tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.double({ min: -1e12, max: 1e12, noNaN: true })),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(points, (drawn) => {
      const html = pageOf(someResults({ figures: [], charts: [chart('a', drawn)] }));
      for (const [, x = '', y = ''] of html.matchAll(/<circle [^>]*cx="([^"]*)" cy="([^"]*)"/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(0);
        expect(Number(x)).toBeLessThanOrEqual(640);
        expect(Number(y)).toBeGreaterThanOrEqual(0);
        expect(Number(y)).toBeLessThanOrEqual(280);
      }
    }),
    { numRuns: runs(40, 5_000) },
  );
});

test('a missed limit is said in a word at the top and beside its figure', () => {
  const html = pageWith('a', [2]);
  expect(html).toContain('One limit is missed.');
  expect(html).toContain('<td class="verdict MISSED">MISSED</td>');
  expect(pageWith('a', [4])).toContain('Every limit is kept.');
});

test('it is made for light and for dark', () => {
  expect(pageWith('a', [1])).toMatch(/color-scheme: light dark;.*@media \(prefers-color-scheme: dark\)/s);
});
