import { configDefaults, defineConfig } from 'vitest/config';
import { excludedHere } from './test/support/windows.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...excludedHere],
    globalSetup: ['test/support/build.ts', 'test/support/announce-database.ts', 'test/support/windows.ts'],
    // Tests mostly wait for processes, leases and time limits, so there are more workers than processors.
    maxWorkers: 4,
    // A worker keeps what it has compiled. No test changes what others share.
    isolate: false,
    // Tests wait for events, not for time: the limit only ends a test that hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
