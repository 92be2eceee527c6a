import { expect, test } from 'vitest';
import { parseUploadPackRequest } from '../../../src/service/git/upload-pack-request.ts';

test('a request for 100,000 objects is parsed in steps, so that other work can run in between', async () => {
  const wants = Array.from({ length: 100_000 }, (_, index) => `0032want ${String(index).padStart(40, '0')}\n`);
  let turns = 0;
  let isParsed = false;
  const turn = (): void => {
    turns += 1;
    if (!isParsed) setImmediate(turn);
  };
  setImmediate(turn);
  const parsed = await parseUploadPackRequest(Buffer.from(`${wants.join('')}0000`));
  isParsed = true;
  expect(parsed).toMatchObject({ ok: true, value: { wants: { length: 100_000 } } });
  expect(turns).toBeGreaterThanOrEqual(50);
});
