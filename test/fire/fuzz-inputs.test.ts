import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inputNames, operations, readRawInputs, secretsIn } from '../../src/action/inputs/table.ts';
import { loadInputs } from '../../src/action/inputs/task.ts';
import { runs } from '../support/runs.ts';
import { printedSeed } from '../support/seed.ts';
import { openAnsweredSteps } from './answering.ts';
import { expectHarmless } from './harmless.ts';
import * as hostile from './hostile.ts';

const steps = openAnsweredSteps();

const { anyJson, text } = hostile;
const json = anyJson.map((each) => JSON.stringify(each) ?? '');
const lines = fc.array(fc.oneof(text, fc.constantFrom('a', '*', '!**', '[', '{a,b', 'x/../*')), { maxLength: 4 });
const anyLines = lines.map((all) => all.join('\n'));
const durations = fc.constantFrom('0s', '1s', '30d', '31d', `${'9'.repeat(400)}s`, '1e9s', '１s', '-1s', '1 s', 's');

/** Texts that are close to a valid input. */
const near: Readonly<Record<string, fc.Arbitrary<string>>> = {
  operation: fc.constantFrom(...operations),
  'base-url': fc.oneof(
    text.map((each) => `https://x.example/${each}/v1`),
    fc.constantFrom('https://[::1/v1', 'http://::notice::x@127.0.0.1/v1', 'https://x\u202e.example/v1', 'file:///v1'),
  ),
  path: anyLines,
  'ignore-owner': anyLines,
  'hook-events': anyLines,
  locks: fc.oneof(
    json,
    json.map((each) => `[{"path":${each}}]`),
  ),
  'locks-file': fc.constantFrom('/nowhere/locks.json', '/', 'x'.repeat(20_000)),
  'hook-options': fc.oneof(
    json,
    json.map((each) => `{"headers":${each},"secret":${each}}`),
    fc.constantFrom(
      `{"headers":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
      `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    ),
  ),
  'hook-url': text.map((each) => `https://ci.example.com/${each}`),
  ttl: durations,
  wait: durations,
  'request-timeout': durations,
  retries: fc.constantFrom('0', '100', '101', '1e2', '999999999', '٣'),
};

/** Each input with a probability: nearly valid, or anything. */
const given = fc.record(
  Object.fromEntries(
    inputNames.map((name) => {
      const usual = near[name] ?? fc.constantFrom('true', 'false', 'game', 'main', 'exclusive');
      return [name, fc.oneof({ weight: 3, arbitrary: usual }, { weight: 2, arbitrary: text })];
    }),
  ),
  { requiredKeys: ['operation'], noNullPrototype: true },
);

const asEnvironment = (inputs: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(inputs).map(([name, value = '']) => [`INPUT_${name.toUpperCase()}`, value]));

test('reads any inputs, or reports each invalid one in a sentence', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(given, async (inputs) => {
      const getInput = (name: string): string => (inputs[name] ?? '').trim();
      const raw = readRawInputs(getInput, {});
      for (const secret of secretsIn(raw)) expect(secret.length).toBeGreaterThan(3);
      const loaded = loadInputs(raw, getInput, {});
      if (loaded.ok) return;
      expect(loaded.problems).not.toEqual([]);
      for (const problem of loaded.problems) {
        expect(problem).toMatch(/^Inputs? `[a-z-]+` (and `[a-z-]+` are both set: |(is|has) .*\. ).*[.}]$/s);
        // The limit covers 200 characters of the value, each as long as JSON writes it.
        expect(problem.length).toBeLessThan(2_000);
      }
    }),
    {
      numRuns: runs(50, 10_000),
      seed: printedSeed('arbitrary inputs, parsed'),
      endOnFailure: process.env['SOAK'] === '1',
    },
  );
});

/** Steps in tests send requests only to the server of the test. */
const isAddress = (address: string): boolean => URL.canParse(address) && /^https?:/i.test(address);

test('ends a step with any inputs with a reason, and a harmless log', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(given, fc.boolean(), async (inputs, connected) => {
      // A step that rejects one input does not show what it would do with the others.
      const right = { token: hostile.token, workspace: 'game', 'request-timeout': '1s', retries: '0' };
      const address = connected || isAddress(inputs['base-url'] ?? '') ? { 'base-url': steps.baseUrl() } : {};
      // Environment variables cannot contain NUL.
      const env = Object.fromEntries(
        Object.entries(asEnvironment({ ...inputs, ...(connected && right), ...address })).map(
          ([name, value]) => [name, value.replaceAll('\0', '').slice(0, 100_000)] as const,
        ),
      );
      expectHarmless(await steps.run({ stage: 'main', env }), 'main');
      expectHarmless(await steps.run({ stage: 'post', env, goesOn: true }), 'post');
    }),
    {
      numRuns: runs(20, 3_000),
      seed: printedSeed('arbitrary inputs of a step'),
      endOnFailure: process.env['SOAK'] === '1',
    },
  );
});
