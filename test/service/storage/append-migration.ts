import { onTestFinished } from 'vitest';
import { migrations } from '../../../src/service/storage/migrate.ts';

/** Appends a migration, as the next release may, until the test has finished. Returns a function to remove it before. */
export function appendMigration(...statements: readonly string[]): () => void {
  const migration = () => statements;
  // Only tests change the list.
  const list = migrations as (typeof migration)[];
  list.push(migration);
  const remove = () => void list.splice(list.indexOf(migration), list.includes(migration) ? 1 : 0);
  onTestFinished(remove);
  return remove;
}
