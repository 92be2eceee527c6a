import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inHtml } from '../../../src/action/report/escape.ts';
import type { Table } from '../../../src/action/report/outcome.ts';
import { summaryHtml } from '../../../src/action/report/summary.ts';
import { createRedactor } from '../../../src/interface/redact.ts';
import { asItIs } from '../../locks/samples.ts';
import { summaryShape } from '../../support/summary-shape.ts';
import { hostileText } from './texts.ts';

const mebibyte = 1_024 * 1_024;

test('the summary has a heading, a sentence, and a table unless that has no rows', () => {
  const rows = [['a', '14:05 UTC']];
  const heading = '<h3>Workspace:<wbr> lock</h3>\n<p>Locked 1 path.</p>\n';
  const table = '<table>\n<tr><th>Path</th><th>Until</th></tr>\n<tr><td>a</td><td>14:<wbr>05 UTC</td></tr>\n</table>\n';
  const summaryOf = (table: Table) => summaryHtml('Workspace: lock', 'Locked 1 path.', table, asItIs);
  expect(summaryOf({ head: ['Path', 'Until'], rows })).toBe(`${heading}${table}\n`);
  expect(summaryOf({ head: ['Path', 'Until'], rows: [] })).toBe(`${heading}\n`);
});

const run = 'https://github.com/octo-games/dragon/actions/runs/1040';

test.each([
  [`${run}/attempts/1`, 'octo-games/dragon #1040'],
  [run, 'octo-games/dragon #1040'],
  [`${run}/attempts/3`, 'octo-games/dragon #1040, attempt 3'],
  ['http://github.test:3000/a/.github/actions/runs/7', 'a/.github #7'],
  ['https://gitlab.test/octo-games/engine/dragon/-/pipelines/42', 'octo-games/engine/dragon #42'],
])('the run at %s becomes a link with its name', (url, name) => {
  const html = summaryHtml('t', 's', { head: ['Run'], rows: [[{ run: url }]] }, asItIs);
  expect(html).toContain(`<td><a href="${url}">${name.replace('#', '#<wbr>')}</a></td>`);
});

test.each([
  'javascript:alert(1)//github.com/a/b/actions/runs/1',
  'https://user:word@github.com/a/b/actions/runs/1',
  `${run}"onclick="x`,
  `${run}?a=b`,
  'https://ci.example.com/runs/1',
  'by hand',
  '',
])('an invalid run URL stays text: %s', (url) => {
  const html = summaryHtml('t', 's', { head: ['x'], rows: [[{ run: url }]] }, asItIs);
  expect(html).not.toContain('<a');
  expect(html).toContain(`<td>${inHtml(url)}</td>`);
});

test('backticks become code in a sentence, but not in a path of a table', () => {
  const rows = [['a `b` c.umap']];
  const html = summaryHtml('t', 'a`b is held. Set `wait: 5m` (or `any`) for a`b.', { head: ['Path'], rows }, asItIs);
  expect(html).toContain('<p>a`b is held. Set <code>wait:<wbr> 5m</code> (or <code>any</code>) for a`b.</p>');
  expect(html).toContain('<td>a `b` c.umap</td>');
});

test('fifty rows are shown, and the rest is a count', () => {
  const parts = (count: number) => {
    const rows = Array.from({ length: count }, (_, number) => [`p${number}`]);
    const html = summaryHtml('t', 's', { head: ['Path'], rows }, asItIs);
    expect(html).toMatch(summaryShape);
    return { shown: html.split('<td>').length - 1, left: /<p>(And .*)<\/p>/.exec(html)?.[1] };
  };
  expect(parts(50)).toEqual({ shown: 50, left: undefined });
  expect(parts(51)).toEqual({ shown: 50, left: 'And 1 more.' });
  expect(parts(3_000)).toEqual({ shown: 50, left: 'And 2,950 more.' });
});

const cell = fc.oneof(
  hostileText,
  hostileText.map((text) => ({ run: text })),
  hostileText.map((text) => ({ run: `${run}${text}` })),
);

test('the summary is one block of HTML with only text and links to runs, whatever texts it contains', () => {
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(hostileText, rows, (sentence, some) => {
      const table = { head: ['y', 'x'], rows: some };
      expect(summaryHtml('Workspace: lock', sentence, table, asItIs)).toMatch(summaryShape);
    }),
    { numRuns: 500 },
  );
});

test('the summary stays below the size limit of GitHub and well-formed, however many and long its rows are', () => {
  const long = fc.tuple(fc.constantFrom('a', '@', '"', '漢', '\u202e', '<wbr>'), fc.integer({ min: 1, max: 4_096 }));
  fc.assert(
    fc.property(long, long, fc.integer({ min: 1, max: 3_000 }), ([letter, length], [other, times], count) => {
      const path = letter.repeat(length);
      const row = [path, other.repeat(times), { run: `${run}/${path}` }];
      const table = { head: ['Path', 'Holder', 'Run'], rows: Array.from({ length: count }, () => row) };
      const html = summaryHtml('t', path, table, asItIs);
      expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
      expect(html).toMatch(summaryShape);
    }),
    { numRuns: 60 },
  );
});

test('a secret is hidden before HTML escaping changes it', () => {
  const secret = 'p@ss:w<rd&#1';
  const html = summaryHtml('t', `a ${secret} b`, { head: ['x'], rows: [[secret]] }, createRedactor([secret]));
  expect(html).toContain('<p>a *** b</p>');
  expect(html).toContain('<td>***</td>');
});
