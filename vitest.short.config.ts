import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The beginnings of the paths of the tests that a script runs. */
const testsOf = (script: string): readonly string[] => scripts[script]?.match(/\btest\/\S+/g) ?? [];

const modelled = ['lost-lock', 'lost-response', 'network-gone'];

/** Slow scenarios of `npm run test:e2e`, which also runs every form of the others. */
const scenarios = [
  'cancelled',
  'limited-service',
  'several-steps',
  'silent-at-deadline',
  'sync-last-look',
  'wrong-clock',
  // Windows does not run the model test, which has most of what happens in these.
  ...(process.platform === 'win32' ? [] : modelled),
];

/** Tests that are slow, and seldom break, have commands of their own. `.ci/run` calls them all. */
const elsewhere = [
  ...['test:docs', 'test:git', 'test:browser', 'test:fire', 'test:e2e'].flatMap(testsOf),
  ...['gateways', 'connections', 'rate-limited', 'run-api'].map((name) => `test/e2e/${name}`),
  ...scenarios.map((name) => `test/e2e/scenarios/${name}`),
].filter((beginning) => beginning !== 'test/e2e');

/** `npm test`: all that a change is likely to break, in its short forms. */
export default defineConfig({
  test: {
    ...everyday.test,
    // On SQLite, two workers more wait for less than they cost.
    maxWorkers: 6,
    exclude: [
      ...(everyday.test?.exclude ?? []),
      ...elsewhere.flatMap((beginning) => [`${beginning}*.ts`, `${beginning}/**`]),
    ],
  },
});
