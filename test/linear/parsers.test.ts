import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { forms, runs } from '../support/runs.ts';
import { foldersWithoutRows, ofAnyText, type Parser, parsers, type Shape, withoutRow } from './parsers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const units = [
  ...' \t\n.,;:/\\"\'=&?#%+*-_<>[](){}|^$@!~0aA',
  ...['\r\n', '\0', '\u00e9', '\u0301', '\u200b', '\ud83d\ude00', '\ud83d', '\ufffd'],
  ...['a ', ' a', 'a.', '../', '//', '%41', '%', '"a",', '[[', '{"a":'],
];

/** Inputs for every parser: one unit repeated, alone, and with an ending that makes a pattern backtrack. */
const everyShape = units.flatMap((unit) =>
  forms<Shape>(
    [
      ['', unit, ''],
      ['', unit, 'x'],
      ['a', unit, '\u0001'],
    ],
    2,
  ),
);

type Grow = (length: number) => string;

const growing =
  ([before, unit, after]: Shape): Grow =>
  (length) =>
    before + unit.repeat(length / unit.length) + after;

/** To sort them, each mark of the second half must pass all marks of the first. */
const marksInTheWrongOrder: Grow = (length) => `a${'\u0345'.repeat(length / 2)}${'\u0327'.repeat(length / 2)}`;

/** Processor milliseconds of this thread per call: the load of the machine does not count. */
function timeOf(work: () => unknown, times = 1): number {
  const before = process.threadCpuUsage();
  for (let time = 0; time < times; time += 1) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / times;
}

const n = runs(8, 16) * 1_024;
const greatestRatio = 8;

/** Below this, `4 * n` characters are read so quickly that quadratic growth is impossible. */
const negligibleMs = 25;

/** A hundred times the time of any linear parser; beyond it, four times the input might take forever. */
const hopelessMs = 250;

/** The reason why the time of a parser grows faster than its input; undefined if it does not. */
function whyNotLinear({ parse }: Parser, grow: Grow): string | undefined {
  for (const length of [n / 16, n / 4, n]) {
    const text = grow(length);
    const took = timeOf(() => parse(text));
    if (took > hopelessMs) return `${took} ms for ${length} characters`;
  }
  const [short, long] = [grow(n), grow(4 * n)];
  if (timeOf(() => parse(long)) < negligibleMs) return undefined;
  let reason = '';
  // Some clocks have steps of milliseconds, and garbage collection interferes: there are three attempts.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const longTook = timeOf(() => parse(long), 2);
    const shortTook = timeOf(() => parse(short), 8);
    if (longTook < negligibleMs || longTook <= greatestRatio * shortTook) return undefined;
    reason = `${longTook} ms for ${4 * n} characters, and ${shortTook} ms for ${n}`;
    if (longTook > 4 * hopelessMs) break;
  }
  return reason;
}

const rows = [...parsers.map((parser) => ({ ...parser, shapes: [...everyShape, ...parser.shapes] })), ofAnyText];

test.each(rows)('$of take linear time for growing input', (parser) => {
  const grown: readonly (readonly [string, Grow])[] = [
    ...parser.shapes.map((shape) => [JSON.stringify(shape), growing(shape)] as const),
    ['marks in the wrong order', marksInTheWrongOrder],
  ];
  const slow = grown.flatMap(([what, grow]) => {
    const reason = whyNotLinear(parser, grow);
    return reason === undefined ? [] : [`${what}: ${reason}`];
  });
  expect(slow).toEqual([]);
});

describe('parser registry', () => {
  const exported = globSync('src/{interface,client,locks,action,service}/**/*.{ts,js}', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !foldersWithoutRows.some((folder) => file.startsWith(folder)))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^export (?:async )?(?:function\*?|const) (\w+)/gm)].map(
        ([, name]) => `${file} ${name}`,
      ),
    );
  const named = new Set(rows.flatMap(({ of }) => of));

  test('has a row or an exemption for each exported function named parse… or read…', () => {
    const found = exported.filter((name) => / (?:parse|read)[A-Z]/.test(name));
    expect(found.length).toBeGreaterThan(40);
    expect(found.filter((name) => !named.has(name) && withoutRow[name] === undefined)).toEqual([]);
  });

  test('names each parser as it is exported', () => {
    const all = new Set(exported);
    expect([...named, ...Object.keys(withoutRow)].filter((name) => !all.has(name))).toEqual([]);
  });
});
