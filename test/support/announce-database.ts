/** Reports once, before the tests, what replaces PostgreSQL. */
export default function announceDatabase(): void {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return;
  process.stderr.write(
    'No TEST_DATABASE_URL is set: PGlite stands in for PostgreSQL where a test is about the database, and tests that need several connections are left out. `npm run test:postgres` runs them on a real server.\n',
  );
}
