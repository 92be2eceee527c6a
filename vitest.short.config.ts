import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The beginnings of the paths of the tests that a script runs. */
const testsOf = (script: string): readonly string[] => scripts[script]?.match(/\btest\/\S+/g) ?? [];

/** Slow tests of `npm run test:e2e`, which also runs every form of the others. */
const slow = [
  'connections',
  'gateways',
  'outdated',
  'pools',
  'rate-limited',
  'run-api',
  'scenarios/any-of-several',
  'scenarios/cancelled',
  'scenarios/limited-service',
  'scenarios/several-steps',
  'scenarios/silent-at-deadline',
  'scenarios/sync-last-look',
  'scenarios/wrong-clock',
  'trust-command',
];

/** The model test has most of what happens in these, but does not run on Windows. */
const modelled = [
  'scenarios/all-or-nothing',
  'scenarios/killed-releasing',
  'scenarios/lost-lock',
  'scenarios/lost-response',
  'scenarios/network-gone',
  'scenarios/overlapping-sets',
];

/** Tests that are slow, and seldom break, have commands of their own. `.ci/run` calls them all. */
const elsewhere = [
  ...['test:docs', 'test:git', 'test:browser', 'test:fire', 'test:e2e'].flatMap(testsOf),
  ...[...slow, ...(process.platform === 'win32' ? [] : modelled)].map((name) => `test/e2e/${name}`),
].filter((beginning) => beginning !== 'test/e2e');

/** `npm test`: all that a change is likely to break, in its short forms. */
export default defineConfig({
  test: {
    ...everyday.test,
    // On SQLite, tests wait more than they compute.
    maxWorkers: 6,
    exclude: [
      ...(everyday.test?.exclude ?? []),
      ...elsewhere.flatMap((beginning) => [`${beginning}*.ts`, `${beginning}/**`]),
    ],
  },
});
