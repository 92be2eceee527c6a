import { configDefaults, defineConfig } from 'vitest/config';
import { testTimeoutMs, waitTimeoutMs } from './test/support/limits.ts';
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
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    expect: { poll: { timeout: waitTimeoutMs } },
  },
});
