import fc from 'fast-check';
import { expect, test } from 'vitest';
import { summaryHtml } from '../../../src/action/report/reporter.ts';
import { createRedactor } from '../../../src/interface/redact.ts';
import { summaryShape } from '../../support/summary-shape.ts';
import { asItIs } from '../samples.ts';
import { hostileText } from './texts.ts';

const mebibyte = 1_024 * 1_024;

test('it is a heading, a sentence, and a table unless that has no rows', () => {
  const rows = [['a', '14:05 UTC']];
  const heading = '<h3>Workspace:<wbr> lock</h3>\n<p>Locked 1 path.</p>\n';
  const table = '<table>\n<tr><th>Path</th><th>Until</th></tr>\n<tr><td>a</td><td>14:<wbr>05 UTC</td></tr>\n</table>\n';
  const summaryOf = (...tables: Parameters<typeof summaryHtml>[2]) =>
    summaryHtml('Workspace: lock', 'Locked 1 path.', tables, asItIs);
  expect(summaryOf({ head: ['Path', 'Until'], rows })).toBe(`${heading}${table}\n`);
  expect(summaryOf({ head: ['Path', 'Until'], rows: [] })).toBe(`${heading}\n`);
});

test('it is nothing but one block of HTML with text in it, whatever it tells of', () => {
  const rows = fc.array(fc.array(hostileText, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(hostileText, rows, rows, (sentence, some, others) => {
      const tables = [some, others].map((each) => ({ head: [sentence, 'x'], rows: each }));
      expect(summaryHtml('Workspace: lock', sentence, tables, asItIs)).toMatch(summaryShape);
    }),
    { numRuns: 500 },
  );
});

test('a secret is taken out before HTML makes it another text', () => {
  const secret = 'p@ss:w<rd&#1';
  const html = summaryHtml('t', `a ${secret} b`, [{ head: ['x'], rows: [[secret]] }], createRedactor([secret]));
  expect(html).toContain('<p>a *** b</p>');
  expect(html).toContain('<td>***</td>');
});

test('a hundred thousand rows stay below what GitHub takes, and those left out are counted in each table', () => {
  const rows = Array.from({ length: 100_000 }, (_, number) => [`Maps/${number}/Großer & <schöner> Würfel.umap`, 'ada']);
  const table = { head: ['Path', 'Holder'], rows };
  const html = summaryHtml('t', 's', [table, table], asItIs);
  expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
  expect(Buffer.byteLength(html)).toBeGreaterThan(mebibyte / 2);
  const shown = html.split('<td>ada</td>').length - 1;
  expect(html).toContain(`<p>And ${(100_000 - shown).toLocaleString('en-US')} more.</p>`);
  expect(html).toContain('<p>And 100,000 more.</p>');
});

test('a sentence that is longer than all of it is cut', () => {
  const html = summaryHtml('t', 'ä'.repeat(mebibyte), [{ head: ['x'], rows: [['y']] }], asItIs);
  expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
});
