import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readArguments, usageOf } from '../../bench/arguments.ts';

const known = [
  { name: 'start', what: 'How long it takes to start.' },
  { name: 'locks', what: 'How long locks take.' },
];
const folder = join(import.meta.dirname, '../../bench');
const run = { kind: 'run', names: [], quick: false, json: false, folder };

test.each([
  [[], run],
  [['locks', 'start'], { ...run, names: ['locks', 'start'] }],
  [['--quick', 'locks', '--json'], { ...run, names: ['locks'], quick: true, json: true }],
  [['--out', 'elsewhere'], { ...run, folder: resolve('elsewhere') }],
  [['--table'], { kind: 'table', folder }],
  [['--nonsense', '--help'], { kind: 'help' }],
  [['-h'], { kind: 'help' }],
])('%j is understood', (args, request) => {
  expect(readArguments(args, known)).toEqual(request);
});

test.each([
  [['lock'], 'There is no benchmark "lock", but there is start, locks. --help says more.'],
  [['--quik'], "Unknown option '--quik'. --help says more."],
  [['--out'], "Option '--out <value>' argument missing. --help says more."],
  [['--table', '--quick'], '--table runs nothing: no benchmark, --quick or --json goes with it. --help says more.'],
  [['--table', 'start'], '--table runs nothing: no benchmark, --quick or --json goes with it. --help says more.'],
])('%j is a mistake, and told', (args, sentence) => {
  expect(readArguments(args, known)).toEqual({ kind: 'mistake', sentence });
});

test('help names every benchmark and what it measures', () => {
  for (const { name, what } of known) expect(usageOf(known)).toMatch(new RegExp(`^  ${name} +${what}$`, 'm'));
});
