import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { createPostgresDatabase, onServer, postgresServer } from '../../support/databases.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const commitSomething = (storage: Storage, id: string): Promise<unknown> => storeWorkspace(storage, { id });

test('on SQLite, a listener is notified of changes by other processes, but not by its own', async () => {
  const folder = temporaryFolder();
  const [own, other, witness] = [
    await openSqlite({ folder }),
    await openSqlite({ folder }),
    await openSqlite({ folder }),
  ];
  onTestFinished(async () => void (await Promise.all([own.close(), other.close(), witness.close()])));
  const heard: unknown[] = [];
  const heardByWitness: unknown[] = [];
  const stop = own.broadcast.listen((message) => heard.push(message));
  onTestFinished(witness.broadcast.listen((message) => heardByWitness.push(message)));
  await commitSomething(own, 'own');
  await expect.poll(() => heardByWitness).toHaveLength(1);
  expect(heard).toEqual([]);
  await commitSomething(other, 'other');
  await expect.poll(() => heard).toEqual([undefined]);
  await expect.poll(() => heardByWitness).toHaveLength(2);
  stop();
  await commitSomething(other, 'later');
  await expect.poll(() => heardByWitness).toHaveLength(3);
  expect(heard).toEqual([undefined]);
});

describe.skipIf(postgresServer === undefined)('a listener on PostgreSQL (needs TEST_DATABASE_URL)', () => {
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let storages: Storage[];
  const open = async (): Promise<Storage> => {
    const storage = await openPostgres({ url: database.url, onIdleError: () => undefined });
    storages.push(storage);
    return storage;
  };
  beforeEach(async () => {
    database = await createPostgresDatabase(postgresServer ?? '');
    storages = [];
  });
  afterEach(async () => {
    await Promise.all(storages.map((storage) => storage.close()));
    await database.remove();
  });

  test('receives each message of other instances in order, even 500 at once, and none of its own', async () => {
    const [listening, sending] = [await open(), await open()];
    const heard: unknown[] = [];
    const heardBySender: unknown[] = [];
    listening.broadcast.listen((message) => heard.push(message));
    sending.broadcast.listen((message) => heardBySender.push(message));
    await expect.poll(() => [heard, heardBySender]).toEqual([[undefined], [undefined]]);
    const messages = Array.from({ length: 500 }, (_, index) => `message ${index} "'\\ü`);
    for (const message of messages) sending.broadcast.send(message);
    await expect.poll(() => heard.length).toBe(501);
    expect(heard.slice(1)).toEqual(messages);
    sending.broadcast.send(undefined);
    await expect.poll(() => heard.at(-1)).toBeUndefined();
    expect(heardBySender).toEqual([undefined]);
  });

  test('is notified that it may have missed messages after a lost connection, and reconnects', async () => {
    const [listening, sending] = [await open(), await open()];
    const heard: unknown[] = [];
    listening.broadcast.listen((message) => heard.push(message));
    await expect.poll(() => heard).toEqual([undefined]);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
      and datname = current_database() and (query like 'listen%' or query like '%pg_notify%')`.execute(sending.read);
    await expect.poll(() => heard.length).toBeGreaterThan(1);
    await expect
      .poll(async () => {
        sending.broadcast.send('again');
        return heard.at(-1);
      })
      .toBe('again');
  });

  test('is notified that it may have missed messages of an instance whose connection was lost', async () => {
    const [listening, sending] = [await open(), await open()];
    const heard: unknown[] = [];
    listening.broadcast.listen((message) => heard.push(message));
    await expect.poll(() => heard).toEqual([undefined]);
    sending.broadcast.send('first');
    await expect.poll(() => heard).toEqual([undefined, 'first']);
    const name = new URL(database.url).pathname.slice(1);
    const admin = (statement: string) => onServer(postgresServer ?? '', statement);
    await admin(`alter database ${name} with allow_connections false`);
    await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'
      and query like '%pg_notify%' and pid <> pg_backend_pid()`);
    sending.broadcast.send('lost');
    // The sender finds its connection closed, and is refused another one: both at once, on an idle machine.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await admin(`alter database ${name} with allow_connections true`);
    await expect.poll(() => heard).toEqual([undefined, 'first', undefined]);
  });

  test('receives the last messages of an instance that stops', async () => {
    const [listening, sending] = [await open(), await open()];
    const heard: unknown[] = [];
    listening.broadcast.listen((message) => heard.push(message));
    await expect.poll(() => heard).toEqual([undefined]);
    sending.broadcast.send('one');
    sending.broadcast.send('two');
    await sending.close();
    await expect.poll(() => heard).toEqual([undefined, 'one', 'two']);
  });

  test('receives messages after listening was stopped and started again', async () => {
    const [listening, sending] = [await open(), await open()];
    for (let round = 0; round < 20; round += 1) listening.broadcast.listen(() => undefined)();
    const heard: unknown[] = [];
    listening.broadcast.listen((message) => heard.push(message));
    await expect
      .poll(async () => {
        sending.broadcast.send('here');
        return heard.at(-1);
      })
      .toBe('here');
  });
});
