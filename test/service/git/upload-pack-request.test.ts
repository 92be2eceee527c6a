import { expect, test } from 'vitest';
import { parseUploadPackRequest } from '../../../src/service/git/upload-pack-request.ts';

test('a request for 100,000 objects is parsed in steps, so that other work can run in between', () => {
  const wants = Array.from({ length: 100_000 }, (_, index) => `0032want ${String(index).padStart(40, '0')}\n`);
  const pieces = parseUploadPackRequest(Buffer.from(`${wants.join('')}0000`));
  let turns = 0;
  let piece = pieces.next();
  for (; !piece.done; piece = pieces.next()) turns += 1;
  expect(piece.value).toMatchObject({ ok: true, value: { wants: { length: 100_000 } } });
  expect(turns).toBeGreaterThanOrEqual(50);
});
