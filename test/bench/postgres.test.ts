import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { startPostgres } from '../../bench/postgres.ts';
import { leaveOut } from '../support/left-out.ts';

test('a server that is started can be asked, and is gone when it is stopped', async (context) => {
  const server = await startPostgres(tmpdir(), {});
  if (server.postgres.kind === 'missing') return leaveOut(context, server.postgres.reason);
  const { url } = server.postgres;
  const client = new Client(url);
  try {
    await client.connect();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await client.end();
    await server.stop();
  }
  await expect(new Client(url).connect()).rejects.toThrow(/ECONNREFUSED/);
});

test('one that the environment names is used as it is', async () => {
  const server = await startPostgres(tmpdir(), { TEST_DATABASE_URL: 'postgres://somewhere/else' });
  expect(server.postgres).toEqual({ kind: 'running', url: 'postgres://somewhere/else' });
  await server.stop();
});
