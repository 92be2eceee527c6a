import { afterAll, beforeAll } from 'vitest';
import { createPostgresDatabase, postgresServer } from './databases.ts';

/**
 * One PostgreSQL database for all tests of a group. Returns a function that returns its URL. What the group starts on it
 * must be stopped by `afterAll`: the database is removed last, even if the set-up of the group fails.
 */
export function postgresOfTests(): () => string {
  let database: Awaited<ReturnType<typeof createPostgresDatabase>> | undefined;
  beforeAll(async () => {
    database = await createPostgresDatabase(postgresServer ?? '');
  });
  afterAll(() => database?.remove());
  return () => database?.url ?? '';
}
