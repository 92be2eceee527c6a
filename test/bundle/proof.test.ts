import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyOfDist, removeChunks } from './committed.ts';
import { proveBundle } from './prove-bundle.ts';

test('proveBundle accepts a working bundle', async () => {
  await expect(proveBundle(await copyOfDist())).resolves.toBeUndefined();
});

test.each([
  ['without the files that it loads later', removeChunks],
  ['whose post-step cannot be loaded', (folder: string) => writeFile(join(folder, 'post/index.js'), 'missing();')],
  ['that accepts every input', (folder: string) => writeFile(join(folder, 'index.js'), '0;')],
])('proveBundle rejects a bundle %s', async (_, damage) => {
  const folder = await copyOfDist();
  await damage(folder);
  await expect(proveBundle(folder)).rejects.toThrow();
});
