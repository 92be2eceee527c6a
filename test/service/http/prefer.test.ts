import { EventEmitter } from 'node:events';
import type { Context } from 'hono';
import { expect, test } from 'vitest';
import { preferredWait, urgencyOf, waitWith } from '../../../src/service/api/lock-headers.ts';
import { Refusal } from '../../../src/service/contract/response.ts';
import type { Environment } from '../../../src/service/http/context.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';

test.each([
  ['wait=30', 30],
  ['wait=0', 0],
  ['WAIT=10', 10],
  ['wait = 10', 10],
  ['respond-async, wait=10', 10],
  ['wait=10;foo=bar, handling=lenient', 10],
  ['foo="a, wait=5", wait=3', 3],
  ['foo="a \\", wait=5", wait=3', 3],
  ['wait=3, wait=5', 3],
  ['wait=999999999999', 30],
])('%s requests a wait of %d s', (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds);
});

test('an invalid header requests no wait', () => {
  const headers = [undefined, '', 'wait', 'wait=', 'wait=soon', 'wait=-1', 'wait=1.5', 'wait="10"', 'wait=1 2', '"'];
  headers.push('await=3', 'wait-more=3', 'wait=no, wait=5', 'foo="wait=5', `wait=5${' '.repeat(1_000)}`);
  expect(headers.filter((header) => preferredWait(header) !== undefined)).toEqual([]);
});

test.each([
  ['u=1', 1],
  ['u=5, i', 5],
  ['i, u=2', 2],
  ['u=3;a=1', 3],
  [undefined, 3],
  ['u=0', 3],
  ['u=7', 3],
  ['u=12', 3],
  ['a="u=1, u=1"', 3],
  [`${'x'.repeat(1_000)},u=1`, 3],
])('the priority %s has the urgency %d', (header, urgency) => {
  expect(urgencyOf(header)).toBe(urgency);
});

test('a failure is not hidden because the client has disconnected', async () => {
  const outgoing = Object.assign(new EventEmitter(), { destroyed: true });
  const header = (name: string) => (name === 'prefer' ? 'wait=1' : undefined);
  // Only what a wait uses of a request.
  const c = { req: { header }, env: { outgoing }, set: () => undefined } as unknown as Context<Environment>;
  const failWith = (error: Error) => waitWith(c, {} as Storage, () => Promise.reject(error));
  expect(await failWith(new Refusal('not-found', 'It is gone.'))).toMatchObject({ status: 499 });
  await expect(failWith(new Error('The disk is full.'))).rejects.toThrow('The disk is full.');
});
