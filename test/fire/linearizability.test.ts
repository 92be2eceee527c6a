import { beforeEach, expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { hasGo, type LockOperation, notLinearizable } from './linearizability/check.ts';

const path = 'game Hero.uasset';

const operation = (
  kind: LockOperation['kind'],
  id: string,
  [call, end]: readonly [number, number],
  fence = Number(id),
): LockOperation => ({ path, client: 1, kind, id, call, return: end, fence });

beforeEach((context) => {
  if (!hasGo()) leaveOut(context, 'There is no Go on this machine, in which the checker is written.');
});

test('the checker accepts locks that are held one after the other', () => {
  const history = [
    operation('granted', '1', [0, 10]),
    operation('held', '1', [5, 20]),
    operation('released', '1', [20, 30]),
    operation('granted', '2', [25, 40]),
    operation('expired', '2', [50, 55]),
    operation('granted', '3', [51, 60]),
    operation('released-or-gone', '2', [45, 70]),
  ];
  expect(notLinearizable(history)).toEqual([]);
});

const backup = operation('backed-up', '', [12, 14], 0);
const restore = operation('restored', '', [50, 60], 0);

test('the checker accepts a restore that brings back the lock of the backup, and drops later ones', () => {
  const history = [
    operation('granted', '1', [0, 10]),
    backup,
    operation('released', '1', [20, 30]),
    operation('granted', '2', [31, 40]),
    restore,
    operation('held', '1', [61, 70]),
    operation('released-or-gone', '2', [61, 70]),
    operation('released', '1', [71, 80]),
    operation('granted', '3', [81, 90]),
  ];
  expect(notLinearizable(history)).toEqual([]);
});

test.each<[string, readonly LockOperation[]]>([
  [
    'a fence that is reused after a restore',
    [
      backup,
      operation('granted', '2', [20, 30]),
      operation('released', '2', [31, 40]),
      restore,
      operation('granted', 'other', [61, 70], 2),
    ],
  ],
  [
    'a lock acquired after the backup that is still held after the restore',
    [backup, operation('granted', '2', [20, 30]), restore, operation('held', '2', [61, 70])],
  ],
  [
    'a lock of the backup that is missing after the restore',
    [
      operation('granted', '1', [0, 10]),
      backup,
      operation('released', '1', [20, 30]),
      restore,
      operation('granted', '2', [61, 70]),
    ],
  ],
  ['two holders at a time', [operation('granted', '1', [0, 10]), operation('granted', '2', [20, 30])]],
  [
    'a decreasing fence',
    [
      operation('granted', '1', [0, 10], 7),
      operation('released', '1', [20, 30], 7),
      operation('granted', '2', [40, 50], 6),
    ],
  ],
  [
    'a refusal because of a lock that did not exist yet',
    [operation('held', '1', [0, 5]), operation('granted', '1', [10, 20])],
  ],
  [
    'a refusal because of a lock that had ended',
    [operation('granted', '1', [0, 10]), operation('expired', '1', [50, 55]), operation('held', '1', [60, 70])],
  ],
  [
    'a release of a lock that had already expired',
    [operation('granted', '1', [0, 10]), operation('expired', '1', [20, 25]), operation('released', '1', [30, 40])],
  ],
])('the checker rejects %s', (_, history) => {
  expect(notLinearizable(history)).toEqual([`${path}: Illegal`]);
});
