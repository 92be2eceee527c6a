import { expect, test } from 'vitest';
import { readArguments } from '../../scripts/demo/arguments.ts';
import { startDemo } from './demo-process.ts';

test.each([
  [['--keep', '--nonsense', '--help'], 0, /^Usage: npm run demo \[-- OPTION\.\.\.\]\n/, ''],
  [['--keep', '--kep'], 2, /^$/, 'Unknown argument: "--kep". Use --quick, --record or --keep, or --help for usage.\n'],
  [['--record', '--keep'], 2, /^$/, 'A recording ends with the demo. Remove --keep or --record.\n'],
])('the arguments %j end with %d, and start nothing', async (args, code, stdout, stderr) => {
  const demo = await startDemo(args);
  expect(await demo.ended).toBe(code);
  expect(demo.stdout()).toMatch(stdout);
  expect(demo.stderr()).toBe(stderr);
});

test.each([
  [['--record', 'there', '--quick'], { folder: 'there' }],
  [['--record', '--quick'], { folder: undefined }],
  [['--quick'], undefined],
])('the arguments %j record into %j', (args, record) => {
  expect(readArguments(args)).toEqual({ kind: 'run', keep: false, quick: true, record });
});
