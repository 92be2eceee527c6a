/** Prints once, before the tests, that they use only one of the two databases. */
export default function announceDatabase(): void {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return;
  process.stderr.write(
    'No TEST_DATABASE_URL is set, so the tests use SQLite. `npm run test:postgres` tests the service on PostgreSQL.\n',
  );
}
