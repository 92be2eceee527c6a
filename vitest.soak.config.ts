import { defineConfig } from 'vitest/config';
import { soakReporter } from './test/soak/reporter.ts';
import everyday from './vitest.config.ts';

/** Tests that measure seconds, requests per second or processor time. They run one after the other, and alone. */
const measuredInTime = [
  'test/e2e/scenarios/*.test.ts',
  'test/fire/costly-input.test.ts',
  'test/fire/faults.test.ts',
  'test/fire/hostile-guests.test.ts',
  'test/fire/instances.test.ts',
  'test/fire/limits-garbage.test.ts',
  'test/fire/limits-open-files.test.ts',
  'test/fire/line.test.ts',
  'test/service/cli/receive-time.test.ts',
  'test/service/storage/when-busy.test.ts',
  'test/service/workspaces/remove-workspace.test.ts',
  'test/service/webhooks/silent-receivers.test.ts',
];

const all = [
  'test/e2e/scenarios/**/*.test.ts',
  'test/locks/renewal/renew-locks.test.ts',
  'test/service/cli/receive-time.test.ts',
  'test/service/http/arbitrary-input.test.ts',
  'test/service/lfs/garbage.test.ts',
  'test/service/storage/when-busy.test.ts',
  'test/service/syncs/syncs.test.ts',
  'test/service/webhooks/{deliver-limits,delivery-slots,ordering,quotas}.test.ts',
  'test/service/workspaces/remove-workspace.test.ts',
  'test/interface/*.test.ts',
  'test/linear/*.test.ts',
  'test/fire/*.test.ts',
];

/** `npm run test:soak`: the long forms, with a table of what they measured. */
export default defineConfig({
  test: {
    ...everyday.test,
    // The projects add theirs.
    include: [],
    reporters: ['default', soakReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: all,
          exclude: measuredInTime,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: measuredInTime, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
