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

const backup = operation('backed-up', '', [12, 14], 0);
const restore = operation('restored', '', [50, 60], 0);

test.each<[string, readonly LockOperation[]]>([
  [
    'locks that are held one after the other',
    [
      operation('granted', '1', [0, 10]),
      operation('held', '1', [5, 20]),
      operation('released', '1', [20, 30]),
      operation('granted', '2', [25, 40]),
      operation('expired', '2', [50, 55]),
      operation('released-or-gone', '2', [45, 70]),
    ],
  ],
  [
    'a restore that brings back the lock of the backup, and drops later ones',
    [
      operation('granted', '1', [0, 10]),
      backup,
      operation('released', '1', [20, 30]),
      operation('granted', '2', [31, 40]),
      restore,
      operation('released', '1', [71, 80]),
      operation('granted', '3', [81, 90]),
    ],
  ],
])('the checker accepts %s', (_, history) => {
  expect(notLinearizable(history)).toEqual([]);
});

test.each<[string, readonly LockOperation[]]>([
  ['two holders at a time', [operation('granted', '1', [0, 10]), operation('granted', '2', [20, 30])]],
  [
    'a lock that outlives a restore',
    [backup, operation('granted', '2', [20, 30]), restore, operation('held', '2', [61, 70])],
  ],
  [
    'a fence that does not increase',
    [backup, operation('granted', '2', [20, 30]), restore, operation('granted', 'x', [61, 70], 2)],
  ],
  [
    'a holder that had ended',
    [operation('granted', '1', [0, 10]), operation('expired', '1', [50, 55]), operation('held', '1', [60, 70])],
  ],
])('the checker rejects %s', (_, history) => {
  expect(notLinearizable(history)).toEqual([`${path}: Illegal`]);
});
