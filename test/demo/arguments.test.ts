import { expect, test } from 'vitest';
import { readArguments } from '../../demo/arguments.ts';
import { startDemo } from './demo-process.ts';

test.each([
  [[], { kind: 'run', keep: false }],
  [['--keep'], { kind: 'run', keep: true }],
  [['-h'], { kind: 'help' }],
  [['--keep', '--help', '--nonsense'], { kind: 'help' }],
])('%j are understood', (args, request) => {
  expect(readArguments(args)).toEqual(request);
});

test('--help prints the usage and starts nothing', async () => {
  const demo = await startDemo(['--help']);
  expect(await demo.ended).toBe(0);
  expect(demo.stdout()).toMatch(/^Usage: npm run demo \[-- --keep\]\n/);
  expect(demo.stderr()).toBe('');
});

test('an unknown argument is an error with exit code 2', async () => {
  const demo = await startDemo(['--keep', '--kep']);
  expect(await demo.ended).toBe(2);
  expect(demo.stdout()).toBe('');
  expect(demo.stderr()).toBe('The demo does not know "--kep". There is --keep, and --help says more.\n');
});
