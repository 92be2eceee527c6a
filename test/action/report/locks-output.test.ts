import { expect, test } from 'vitest';
import { locksOutput } from '../../../src/action/report/results.ts';

const maxLength = 30_000;

interface SomeLock {
  readonly path: string;
  readonly id?: string;
  readonly etag?: string;
  readonly owner?: string;
}

const locks = (count: number, of: (number: number) => Omit<SomeLock, 'path'>): readonly SomeLock[] =>
  Array.from({ length: count }, (_, number) => ({ path: `Content/${number}.uasset`, owner: 'ada', ...of(number) }));
const outputOf = (some: readonly SomeLock[]) => JSON.parse(locksOutput(some));

test('keeps all known details of the locks up to 30,000 characters', () => {
  const some = locks(100, (number) => ({ id: `lock_${number}`, etag: `"lock_${number}"` }));
  expect(outputOf(some)).toEqual(some);
  const [first] = some;
  const filled = (length: number): readonly SomeLock[] => [
    { ...first, path: 'a', owner: 'x'.repeat(length - JSON.stringify([{ ...first, path: 'a', owner: '' }]).length) },
  ];
  expect(locksOutput(filled(maxLength))).toHaveLength(maxLength);
  expect(outputOf(filled(maxLength + 1))).toEqual([{ path: 'a', id: 'lock_0' }]);
});

test.each<[string, Omit<SomeLock, 'path'>, Omit<SomeLock, 'path'>]>([
  ['the id if the ETag is the quoted id', { id: 'l', etag: '"l"' }, { id: 'l' }],
  ['id and ETag if they differ', { id: 'l', etag: '"7"' }, { id: 'l', etag: '"7"' }],
  ['the ETag if there is no id', { etag: '"7"' }, { etag: '"7"' }],
  ['the id if there is no ETag', { id: 'l' }, { id: 'l' }],
])('shortens the locks of a longer list to path and proof: %s', (_, lock, proof) => {
  const some = locks(450, () => ({ ...lock, owner: 'x'.repeat(100) }));
  expect(outputOf(some)).toEqual(some.map(({ path }) => ({ path, ...proof })));
});
