import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/action/report/redact.ts';
import { summaryHtml } from '../../../src/action/report/summary.ts';
import { summaryShape } from '../../support/summary-shape.ts';
import { hostileText } from './texts.ts';

const asItIs = (text: string): string => text;
const mebibyte = 1_024 * 1_024;

test('it is a heading, a sentence, and a table', () => {
  expect(
    summaryHtml(
      'Workspace: lock',
      'Locked 2 paths.',
      [
        {
          head: ['Path', 'Until'],
          rows: [
            ['a', '14:05 UTC'],
            ['b', ''],
          ],
        },
      ],
      asItIs,
    ),
  ).toBe(
    '<h3>Workspace:<wbr> lock</h3>\n<p>Locked 2 paths.</p>\n<table>\n<tr><th>Path</th><th>Until</th></tr>\n<tr><td>a</td><td>14:<wbr>05 UTC</td></tr>\n<tr><td>b</td><td></td></tr>\n</table>\n\n',
  );
});

test('a table without rows is left out', () => {
  expect(summaryHtml('t', 's', [{ head: ['Path'], rows: [] }], asItIs)).not.toContain('<table>');
});

describe('whatever it tells of', () => {
  test('it is nothing but one block of HTML with text in it', () => {
    const rows = fc.array(fc.array(hostileText, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    fc.assert(
      fc.property(hostileText, rows, rows, (sentence, some, others) => {
        const tables = [some, others].map((each) => ({ head: [sentence, 'x'], rows: each }));
        expect(summaryHtml('Workspace: lock', sentence, tables, asItIs)).toMatch(summaryShape);
      }),
      { numRuns: 500 },
    );
  });
});

test('a secret is taken out before HTML makes it another text', () => {
  const secret = 'p@ss:w<rd&#1';
  const html = summaryHtml('t', `a ${secret} b`, [{ head: ['x'], rows: [[secret]] }], createRedactor([secret]));
  expect(html).toContain('<p>a *** b</p>');
  expect(html).toContain('<td>***</td>');
});

describe('a hundred thousand rows', () => {
  const rows = Array.from({ length: 100_000 }, (_, number) => [
    `Content/Maps/${number}/Großer & <schöner> Würfel.umap`,
    'ada',
  ]);

  test('stay below what GitHub takes, and those left out are counted', () => {
    const html = summaryHtml('Workspace: lock', 'Locked 100,000 paths.', [{ head: ['Path', 'Holder'], rows }], asItIs);
    expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
    expect(Buffer.byteLength(html)).toBeGreaterThan(mebibyte / 2);
    const shown = html.split('<td>ada</td>').length - 1;
    expect(html).toContain(`<p>And ${(100_000 - shown).toLocaleString('en-US')} more.</p>`);
  });

  test('are counted in every table that there is no room for', () => {
    const table = { head: ['Path', 'Holder'], rows };
    const html = summaryHtml('t', 's', [table, table, table], asItIs);
    expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
    expect(html).toContain('<p>And 100,000 more.</p>');
  });
});

test('a sentence that is longer than all of it is cut', () => {
  const html = summaryHtml('t', 'ä'.repeat(mebibyte), [{ head: ['x'], rows: [['y']] }], asItIs);
  expect(Buffer.byteLength(html)).toBeLessThan(mebibyte);
});
