import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { forms, runs } from '../support/runs.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));

type Parse = (text: string) => unknown;

/** Every exported function that reads a text, and only a text: parse… and read… */
async function parsersOf(file: string): Promise<readonly (readonly [name: string, parse: Parse])[]> {
  const source = readFileSync(`${src}/${file}`, 'utf8');
  const names = [...source.matchAll(/^export (?:function|const) ((?:parse|read)[A-Z]\w*)/gm)].map(
    ([, name = '']) => name,
  );
  if (names.length === 0) return [];
  const module: Readonly<Record<string, unknown>> = await import(`${src}/${file}`);
  return names.flatMap((name) => {
    const parse = module[name];
    return typeof parse === 'function' && parse.length === 1
      ? [[`${file} ${name}`, (text) => parse(text)] as const]
      : [];
  });
}

/** What an operator types may take its time. */
const files = globSync('**/*.ts', { cwd: src, exclude: ['service/cli/**', 'cli/**'] }).map((file) =>
  file.replaceAll('\\', '/'),
);
const parsers = (await Promise.all(files.map(parsersOf))).flat();

const units = [
  ...' \t\n.,;:/\\"\'=&?#%+*-_<>[](){}|^$@!~0aA',
  ...['\r\n', '\0', '\u00e9', '\u0301', '\u200b', '\ud83d\ude00', '\ud83d', '\ufffd'],
  ...['a ', ' a', 'a.', '../', '//', '%41', '%', '"a",', '[[', '{"a":', '<a>; rel="next", ', '<script>', '1h', 'a=b;'],
];

type Grow = (length: number) => string;

/** One unit repeated, alone and with an ending that makes a pattern backtrack; `npm test` has only the last of them. */
const repeated = units.flatMap((unit) =>
  forms(
    [
      ['', ''],
      ['', 'x'],
      ['a', '\u0001'],
    ] as const,
    2,
  ).map(([before, after]) => [JSON.stringify(before + unit + after), grownBy(before, unit, after)] as const),
);

function grownBy(before: string, unit: string, after: string): Grow {
  return (length) => before + unit.repeat(length / unit.length) + after;
}

/** To sort them, each mark of the second half must pass all marks of the first. */
const marksInTheWrongOrder: Grow = (length) => `a${'\u0345'.repeat(length / 2)}${'\u0327'.repeat(length / 2)}`;

/** Processor milliseconds of this thread per call: the load of the machine does not count. */
function timeOf(parse: Parse, text: string, times = 1): number {
  const before = process.threadCpuUsage();
  for (let time = 0; time < times; time += 1) {
    try {
      parse(text);
    } catch {
      // What a parser throws for a text that is too long or not one of its own is tested elsewhere.
    }
  }
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
function whyNotLinear(parse: Parse, grow: Grow): string | undefined {
  for (const length of [n / 16, n / 4, n]) {
    const took = timeOf(parse, grow(length));
    if (took > hopelessMs) return `${took} ms for ${length} characters`;
  }
  const [short, long] = [grow(n), grow(4 * n)];
  if (timeOf(parse, long) < negligibleMs) return undefined;
  let reason = '';
  // Some clocks have steps of milliseconds, and garbage collection interferes: there are three attempts.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const longTook = timeOf(parse, long, 2);
    const shortTook = timeOf(parse, short, 8);
    if (longTook < negligibleMs || longTook <= greatestRatio * shortTook) return undefined;
    reason = `${longTook} ms for ${4 * n} characters, and ${shortTook} ms for ${n}`;
    if (longTook > 4 * hopelessMs) break;
  }
  return reason;
}

test('there are parsers to test', () => expect(parsers.length).toBeGreaterThan(30));

test.each(parsers)('%s takes linear time for growing input', (_, parse) => {
  const slow = [...repeated, ['marks in the wrong order', marksInTheWrongOrder] as const].flatMap(([what, grow]) => {
    const reason = whyNotLinear(parse, grow);
    return reason === undefined ? [] : [`${what}: ${reason}`];
  });
  expect(slow).toEqual([]);
});
