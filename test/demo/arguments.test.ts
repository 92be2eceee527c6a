import { expect, test } from 'vitest';
import { startDemo } from './demo-process.ts';

test.each([
  [['--keep', '--nonsense', '--help'], 0, /^Usage: npm run demo \[-- --keep\]\n/, ''],
  [['--keep', '--kep'], 2, /^$/, 'The demo does not know "--kep". There is --keep, and --help says more.\n'],
])('%j ends with %d, and starts nothing', async (args, code, stdout, stderr) => {
  const demo = await startDemo(args);
  expect(await demo.ended).toBe(code);
  expect(demo.stdout()).toMatch(stdout);
  expect(demo.stderr()).toBe(stderr);
});
