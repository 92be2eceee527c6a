import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inputTable, type OperationName, operations } from '../../src/action/inputs/table.ts';
import { outputNames } from '../../src/action/outcome.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { pullRequestEvent, pushEvent, tagEvent } from '../support/runner/github-context.ts';
import { type Given, inputsOf, problemsOf, rightStep } from './step-environment.ts';

const action: {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, unknown>>;
} = parse(await readFile(ourActionFile, 'utf8'));

describe('what the code and action.yml say of the same thing is the same', () => {
  test('the inputs and their defaults', () => {
    // The runner fills in the one that is an expression.
    const { 'github-token': _, ...declared } = action.inputs;
    const { 'github-token': __, ...known } = inputTable;
    expect(Object.entries(known).map(([name, { fallback }]) => [name, fallback])).toEqual(
      Object.entries(declared).map(([name, { default: fallback = '' }]) => [name, fallback]),
    );
    expect(Object.keys(inputTable)).toEqual(Object.keys(action.inputs));
  });

  test('the outputs', () => {
    expect(outputNames).toEqual(Object.keys(action.outputs));
  });
});

const every = operations;
const withPath: readonly OperationName[] = ['lock', 'unlock', 'list-locks'];
const locks = JSON.stringify([{ path: 'Content/Hero.uasset', etag: '"lock_1"' }]);

interface Row {
  readonly input: string;
  readonly usedBy: readonly OperationName[];
  /** Other than the default, and right wherever it is used. */
  readonly value: string;
  /** What has to be given, or not given, beside it. */
  readonly beside?: Given;
}

const rows: readonly Row[] = [
  { input: 'base-url', usedBy: every, value: 'https://other.example.com/v1' },
  { input: 'allow-http', usedBy: every, value: 'true', beside: { 'base-url': 'http://10.0.0.1/v1' } },
  { input: 'token', usedBy: every, value: 'wsa_another' },
  { input: 'workspace', usedBy: every.filter((name) => name !== 'list-workspaces'), value: 'film' },
  { input: 'branch', usedBy: ['sync'], value: 'release/1.0' },
  { input: 'path', usedBy: withPath, value: 'Content/Villain.uasset' },
  { input: 'glob', usedBy: withPath, value: 'false', beside: { path: 'Content/Rock[1].fbx' } },
  { input: 'type', usedBy: ['lock'], value: 'shared' },
  { input: 'ttl', usedBy: ['lock'], value: '2h' },
  { input: 'wait', usedBy: ['lock', 'sync'], value: '15m' },
  { input: 'auto-release', usedBy: ['lock'], value: 'false' },
  { input: 'on-lost', usedBy: ['lock'], value: 'warn' },
  { input: 'locks', usedBy: ['unlock'], value: locks, beside: { path: '' } },
  { input: 'locks-file', usedBy: ['unlock'], value: '/tmp/locks.json', beside: { path: '' } },
  { input: 'force', usedBy: ['unlock'], value: 'true' },
  { input: 'changed-files', usedBy: ['list-locks'], value: 'true' },
  { input: 'fail-if-locked', usedBy: ['list-locks'], value: 'true' },
  { input: 'ignore-owner', usedBy: ['list-locks'], value: 'build-bot' },
  { input: 'hook-url', usedBy: ['register-hook'], value: 'https://other.example.com/hook' },
  { input: 'hook-events', usedBy: ['register-hook'], value: 'sync.failed' },
  { input: 'hook-secret', usedBy: ['register-hook'], value: 'whsec_c2VjcmV0' },
  { input: 'hook-options', usedBy: ['register-hook'], value: '{"format":"github"}' },
  { input: 'request-timeout', usedBy: every, value: '5s' },
  { input: 'retries', usedBy: every, value: '0' },
  { input: 'summary', usedBy: every, value: 'false' },
];

test('the table of this test has every input but the operation and the token that the runner fills in', () => {
  expect(rows.map(({ input }) => input)).toEqual(
    Object.keys(action.inputs).filter((name) => name !== 'operation' && name !== 'github-token'),
  );
});

describe.each(rows)('input $input', ({ input, usedBy, value, beside = {} }) => {
  const besides = (operation: OperationName): Given =>
    // Beside an input that is not used, the rest of the step stays as it was.
    usedBy.includes(operation) ? beside : {};
  const pairs = operations.map((operation) => ({ operation, used: usedBy.includes(operation) }));

  test.each(pairs.filter(({ used }) => used))('changes what $operation does', ({ operation }) => {
    const step = rightStep(operation, besides(operation));
    const { unused, ...inputs } = inputsOf({ ...step, [input]: value });
    expect(unused).toEqual([]);
    // Without it, the step is another one, or is no step at all.
    const { [input]: _, ...rest } = step;
    if (problemsOf(rest).length === 0) {
      const { unused: __, ...without } = inputsOf(rest);
      expect(inputs).not.toEqual(without);
    }
  });

  test.each(pairs.filter(({ used }) => !used))(
    'is named as unused by $operation, and changes nothing',
    ({ operation }) => {
      const step = rightStep(operation);
      const { unused, ...inputs } = inputsOf({ ...step, [input]: value });
      expect(unused).toEqual([input]);
      expect({ ...inputs, unused: [] }).toEqual(inputsOf(step));
    },
  );

  test.each(pairs.filter(({ used }) => !used))('is not held against $operation when it is wrong', ({ operation }) => {
    expect(problemsOf({ ...rightStep(operation), [input]: ':::' })).toEqual([]);
  });
});

test('a default that a workflow writes out is not called unused', () => {
  expect(inputsOf({ ...rightStep('sync'), ttl: '1h', glob: 'true', 'auto-release': 'true' }).unused).toEqual([]);
});

test('all that is given and not used is named', () => {
  const { unused } = inputsOf({
    ...rightStep('list-workspaces'),
    ttl: '2h',
    path: 'a',
    'hook-url': 'https://h.example',
  });
  expect(unused).toEqual(['path', 'ttl', 'hook-url']);
});

describe('what stands in for an input', () => {
  const environment = {
    WORKSPACE_BASE_URL: 'https://from-environment.example.com/v1',
    WORKSPACE_TOKEN: 'wsa_from_environment',
    WORKSPACE_ID: 'from-environment',
  };

  test('the environment, where nothing is given', () => {
    const inputs = inputsOf({ operation: 'list-branches', token: '', workspace: '  ' }, environment);
    expect(inputs).toMatchObject({
      connection: { baseUrl: environment.WORKSPACE_BASE_URL, token: environment.WORKSPACE_TOKEN },
      task: { workspace: environment.WORKSPACE_ID },
      unused: [],
    });
  });

  test('nothing, where something is given', () => {
    expect(inputsOf(rightStep('list-branches'), environment)).toMatchObject({
      connection: { baseUrl: 'https://workspaces.example.com/v1', token: 'wsa_0123456789abcdef' },
      task: { workspace: 'game' },
    });
  });

  test('a workspace of the environment is not called unused', () => {
    expect(inputsOf(rightStep('list-workspaces'), environment).unused).toEqual([]);
  });

  test('the default, for an input that a workflow leaves empty', () => {
    const inputs = inputsOf(rightStep('lock', { ttl: '', type: '', wait: ' ', 'auto-release': '', 'on-lost': '' }));
    expect(inputs.task).toMatchObject({
      ttl: { seconds: 3_600 },
      type: 'exclusive',
      wait: { seconds: 0 },
      autoRelease: true,
      onLost: 'fail',
    });
  });
});

describe('the branch of a sync', () => {
  const { branch: _, ...step } = rightStep('sync');
  const of = (event: { readonly ref: string; readonly headRef?: string }) => ({
    GITHUB_REF: event.ref,
    GITHUB_HEAD_REF: event.headRef ?? '',
  });

  test.each([
    ['a push', of(pushEvent('feature/x')), 'feature/x'],
    ['a pull request', of(pullRequestEvent({ number: 7, head: 'topic', base: 'main' })), 'topic'],
  ])('is that of %s where none is given', (_name, environment, branch) => {
    expect(inputsOf(step, environment).task).toMatchObject({ branch });
  });

  test('is the one that is given, whatever the run is of', () => {
    expect(inputsOf({ ...step, branch: 'release' }, of(pushEvent('main'))).task).toMatchObject({ branch: 'release' });
  });

  test.each([
    ['a tag', of(tagEvent('v1.0'))],
    ['nothing', {}],
  ])('has to be given in a run of %s', (_name, environment) => {
    expect(problemsOf(step, environment)).toEqual([
      'Input `branch` is missing. The run is not on a branch: name the branch to sync.',
    ]);
  });
});

describe('how values are written', () => {
  test.each(['true', 'True', 'TRUE', ' true '])('%j is yes', (force) => {
    expect(inputsOf(rightStep('unlock', { force })).task).toMatchObject({ force: true });
  });

  test.each(['false', 'False', 'FALSE', ''])('%j is no', (force) => {
    expect(inputsOf(rightStep('unlock', { force })).task).toMatchObject({ force: false });
  });

  test('owners come one a line, and a comma is a part of one', () => {
    const { task } = inputsOf(rightStep('list-locks', { 'ignore-owner': ' build-bot \n\nDoe, Jane\r\n' }));
    expect(task).toMatchObject({ ignoredOwners: ['build-bot', 'Doe, Jane'] });
  });

  test('events come by comma or line', () => {
    const { task } = inputsOf(rightStep('register-hook', { 'hook-events': 'sync.succeeded, sync.failed\nlock.lost,' }));
    expect(task).toMatchObject({ events: ['sync.succeeded', 'sync.failed', 'lock.lost'] });
  });

  test('slashes at the end of the address do not count', () => {
    expect(inputsOf(rightStep('list-workspaces', { 'base-url': 'https://w.example/v1//' })).connection.baseUrl).toBe(
      'https://w.example/v1',
    );
  });

  test.each([
    'http://localhost:8080/v1',
    'http://127.0.0.1:1/v1',
    'http://127.9.9.9/v1',
    'http://[::1]:8080/v1',
    'http://[::ffff:7f00:2]/v1',
    'http://a.localhost/v1',
  ])('%s needs no allow-http', (url) => {
    expect(inputsOf(rightStep('list-workspaces', { 'base-url': url })).connection.baseUrl).toBe(url);
  });
});
