import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { proveBundle } from '../support/prove-bundle.ts';
import { copyOfDist, removeChunks } from './committed.ts';

test('a bundle that works passes', async () => {
  await expect(proveBundle(await copyOfDist())).resolves.toBeUndefined();
});

test.each([
  ['that misses the files it loads later', removeChunks],
  ['whose post-step cannot be loaded', (folder: string) => writeFile(join(folder, 'post/index.js'), 'missing();')],
  ['that takes every input', (folder: string) => writeFile(join(folder, 'index.js'), '0;')],
])('a bundle %s does not', async (_, damage) => {
  const folder = await copyOfDist();
  await damage(folder);
  await expect(proveBundle(folder)).rejects.toThrow();
});
