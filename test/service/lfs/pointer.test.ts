import { expect, test } from 'vitest';
import { parsePointer } from '../../../src/service/lfs/pointer.ts';

const pointer = (size: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize ${size}\n`;

test('a pointer to more than a tebibyte is treated as a normal file', () => {
  expect(parsePointer(pointer(2 ** 40))).toMatchObject({ size: 2 ** 40 });
  for (const size of [2 ** 40 + 1, Number.MAX_SAFE_INTEGER]) expect(parsePointer(pointer(size))).toBeUndefined();
});
