import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/support/announce-database.ts'],
    // Tests wait for events, not for time: the limit only ends a test that hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
