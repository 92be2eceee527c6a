import { compile } from '../../scripts/compile.ts';

/** Tests that start the installed command run the file in `build/`, so it must match `src/`. */
export default async function setUp(): Promise<void> {
  if (process.env['TEST_DATABASE_URL'] === undefined) {
    process.stderr.write('No TEST_DATABASE_URL is set, so the tests use SQLite: see `npm run test:postgres`.\n');
  }
  await compile();
}
