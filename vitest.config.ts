import { readFileSync } from 'node:fs';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';
import { testTimeoutMs, waitTimeoutMs } from './test/support/limits.ts';

/** `vitest run FILES` runs any tests; `--mode short` is `npm test`, and `--mode soak` is `npm run test:soak`. */
export default defineConfig(({ mode }) => {
  if (mode === 'short') return { test: short() };
  return { test: mode === 'soak' ? soak() : everyday };
});

type TestOptions = NonNullable<ViteUserConfig['test']>;

/** The action also supports Windows. The service does not, and signals, modes of files and POSIX shells are missing there. */
const notOnWindows = [
  'test/{service,fire,docs,demo,workflows}/**',
  'test/package.test.ts',
  'test/e2e/{git-lfs,sync,scenarios/cancelled}.test.ts',
  'test/e2e/scenarios/model/**',
  'test/action/{mistaken-paths,paths,post-step/report}.test.ts',
];

const everyday = {
  include: ['test/**/*.test.ts'],
  exclude: [...configDefaults.exclude, ...(process.platform === 'win32' ? notOnWindows : [])],
  globalSetup: ['test/support/set-up.ts'],
  // Tests mostly wait for processes, leases and time limits, so there are more workers than processors.
  maxWorkers: 4,
  // A worker keeps what it has compiled. No test changes what others share.
  isolate: false,
  testTimeout: testTimeoutMs,
  hookTimeout: testTimeoutMs,
  expect: { poll: { timeout: waitTimeoutMs } },
} satisfies TestOptions;

const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The beginnings of the paths of the tests that a script runs. */
const testsOf = (script: string): readonly string[] => scripts[script]?.match(/\btest\/\S+/g) ?? [];

/** Slow tests of `npm run test:e2e`, which also runs every form of the others. */
const slow = [
  'outdated',
  'pools',
  'run-api',
  'scenarios/any-of-several',
  'scenarios/cancelled',
  'scenarios/several-steps',
  'scenarios/wrong-clock',
];

/** The model test has most of what happens in these, but does not run on Windows. */
const modelled = [
  'scenarios/all-or-nothing',
  'scenarios/lost-lock',
  'scenarios/lost-response',
  'scenarios/network-gone',
];

/** Tests that are slow, and seldom break, have commands of their own. `.ci/run` calls them all. */
const elsewhere = [
  ...['test:docs', 'test:git', 'test:browser', 'test:fire', 'test:e2e'].flatMap(testsOf),
  ...[...slow, ...(process.platform === 'win32' ? [] : modelled)].map((name) => `test/e2e/${name}`),
].filter((beginning) => beginning !== 'test/e2e');

/** All that a change is likely to break, in its short forms. */
const short = (): TestOptions => ({
  ...everyday,
  // Each worker compiles the modules again: on two processors, more of them take longer.
  maxWorkers: 3,
  exclude: [...everyday.exclude, ...elsewhere.flatMap((beginning) => [`${beginning}*.ts`, `${beginning}/**`])],
});

/** Tests that measure seconds, requests per second or processor time. They run one after the other, and alone. */
const measuredInTime = [
  'test/e2e/scenarios/*.test.ts',
  'test/fire/costly-input.test.ts',
  'test/fire/deaths.test.ts',
  'test/fire/failover.test.ts',
  'test/fire/instances.test.ts',
  'test/fire/limits-open-files.test.ts',
  'test/service/storage/when-busy.test.ts',
];

const all = [
  'test/e2e/scenarios/**/*.test.ts',
  'test/locks/renewal/renew-locks.test.ts',
  'test/service/http/arbitrary-input.test.ts',
  'test/service/storage/when-busy.test.ts',
  'test/service/syncs/syncs.test.ts',
  'test/service/webhooks/ordering.test.ts',
  'test/interface/*.test.ts',
  'test/linear/*.test.ts',
  'test/fire/*.test.ts',
];

/** The long forms, which print what they measured. */
const soak = (): TestOptions => ({
  ...everyday,
  // The projects add theirs.
  include: [],
  projects: [
    {
      extends: true,
      test: { name: 'side by side', include: all, exclude: measuredInTime, maxWorkers: 2, sequence: { groupOrder: 1 } },
    },
    {
      extends: true,
      test: { name: 'alone', include: measuredInTime, fileParallelism: false, sequence: { groupOrder: 2 } },
    },
  ],
});
