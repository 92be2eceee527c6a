import { expect, test } from 'vitest';
import { databaseProblem } from '../../../src/service/storage/unavailable.ts';

const problemOf = (more: object, message = 'rejected') => databaseProblem(Object.assign(new Error(message), more));

test.each([
  ['is starting', '57P03'],
  ['has a full disk', '53100'],
  ['lost the connection', '08006'],
  ['cannot serialize the transaction', '40001'],
  ['waited too long for a lock', '55P03'],
  ['ended an idle transaction', '25P03'],
  ['is a standby, which rejects changes', '25006'],
  ['cannot read its files', '58030'],
])('is unavailable if PostgreSQL %s: %s', (_, code) => {
  expect(problemOf({ code })).toBe('The database does not answer.');
});

test.each([
  ['a unique key', '23505'],
  ['a syntax error', '42601'],
  ['a failed transaction', '25P02'],
  ['a cancelled query that has no SQLSTATE', 57_014],
])('is available if the query was wrong: %s', (_, code) => {
  expect(problemOf({ code })).toBeUndefined();
});

test('is unavailable if the connection failed, whatever the code', () => {
  expect(problemOf({ code: 'ECONNREFUSED', syscall: 'connect' })).toBe('The database does not answer.');
  expect(problemOf({}, 'Connection terminated unexpectedly')).toBe('The database does not answer.');
  expect(problemOf({ code: 'ENOENT', syscall: 'open' })).toBeUndefined();
  expect(databaseProblem('57P03')).toBeUndefined();
});
