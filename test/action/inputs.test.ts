import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRawInputs, secretsIn } from '../../src/action/inputs/read.ts';
import { inputNames, type OperationName, operations } from '../../src/action/inputs/table.ts';
import { pullRequestEvent, pushEvent, tagEvent } from '../support/runner/github-context.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { type Given, getInputOf, inputsOf, problemsOf, rightStep, stepEnvironment } from './step-environment.ts';

const withPath: readonly OperationName[] = ['lock', 'unlock', 'list-locks'];
const withWorkspace = operations.filter((name) => name !== 'list-workspaces');
const locks = JSON.stringify([{ path: 'Content/Hero.uasset', etag: '"lock_1"' }]);
const locksFile = join(folderOfTests(), 'locks.json');
writeFileSync(locksFile, locks);

interface Row {
  readonly input: string;
  readonly usedBy: readonly OperationName[];
  /** Not the default, and valid for every operation that uses the input. */
  readonly value: string;
  /** Other inputs that must be set or unset with it. */
  readonly beside?: Given;
}

const rows: readonly Row[] = [
  { input: 'base-url', usedBy: operations, value: 'https://other.example.com/v1' },
  { input: 'allow-http', usedBy: operations, value: 'true', beside: { 'base-url': 'http://10.0.0.1/v1' } },
  { input: 'token', usedBy: operations, value: 'wsa_another' },
  { input: 'audience', usedBy: operations, value: 'workspaces', beside: { token: '' } },
  { input: 'workspace', usedBy: withWorkspace, value: 'film' },
  { input: 'branch', usedBy: ['sync'], value: 'release/1.0' },
  { input: 'path', usedBy: withPath, value: 'Content/Villain.uasset' },
  { input: 'glob', usedBy: withPath, value: 'false', beside: { path: 'Content/Rock[1].fbx' } },
  { input: 'pool', usedBy: ['lock'], value: 'unity-pro', beside: { path: '' } },
  { input: 'where', usedBy: ['lock'], value: 'host=b1', beside: { path: '', pool: 'unity-pro' } },
  { input: 'any', usedBy: ['lock'], value: '1' },
  { input: 'type', usedBy: ['lock'], value: 'shared' },
  { input: 'ttl', usedBy: ['lock'], value: '2h' },
  { input: 'wait', usedBy: ['lock', 'sync'], value: '15m' },
  { input: 'priority', usedBy: ['lock'], value: 'high' },
  { input: 'auto-release', usedBy: ['lock'], value: 'false' },
  { input: 'renew', usedBy: ['lock'], value: 'true' },
  { input: 'on-lost', usedBy: ['lock'], value: 'warn' },
  { input: 'on-lost', usedBy: ['lock'], value: 'cancel', beside: { renew: 'true' } },
  { input: 'locks', usedBy: ['unlock', 'check'], value: locks, beside: { path: '' } },
  { input: 'locks-file', usedBy: ['unlock', 'check'], value: locksFile, beside: { path: '' } },
  { input: 'force', usedBy: ['unlock'], value: 'true' },
  { input: 'changed-files', usedBy: ['list-locks'], value: 'true' },
  { input: 'fail-if-locked', usedBy: ['list-locks'], value: 'true' },
  { input: 'ignore-owner', usedBy: ['list-locks'], value: 'build-bot' },
  { input: 'hook-url', usedBy: ['register-hook'], value: 'https://other.example.com/hook' },
  { input: 'hook-events', usedBy: ['register-hook'], value: 'sync.failed' },
  { input: 'hook-secret', usedBy: ['register-hook'], value: 'whsec_c2VjcmV0' },
  { input: 'hook-options', usedBy: ['register-hook'], value: '{"format":"github"}' },
  { input: 'request-timeout', usedBy: operations, value: '5s' },
  { input: 'retries', usedBy: operations, value: '0' },
  { input: 'summary', usedBy: operations, value: 'false' },
];

test('the table of this test covers every input except the operation and the token that the runner fills in', () => {
  expect([...new Set(rows.map(({ input }) => input))]).toEqual(
    inputNames.filter((name) => name !== 'operation' && name !== 'github-token'),
  );
});

const github = {
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://run.actions.example/7/idtoken?api-version=2.0',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-token',
};

const pairs = rows.flatMap((row) => operations.map((operation) => ({ ...row, operation })));

test.each(pairs.filter(({ usedBy, operation }) => usedBy.includes(operation)))(
  'input $input changes the behavior of $operation',
  ({ input, value, beside, operation }) => {
    const step = rightStep(operation, beside);
    const { unused, ...inputs } = inputsOf({ ...step, [input]: value }, github);
    expect(unused).toBeUndefined();
    // Without the input, the step differs or is invalid.
    const { [input]: _, ...rest } = step;
    if (problemsOf(rest, github).length === 0) {
      const { unused: __, ...without } = inputsOf(rest, github);
      expect(inputs).not.toEqual(without);
    }
  },
);

test.each(pairs.filter(({ usedBy, operation }) => !usedBy.includes(operation)))(
  'input $input is reported as unused by $operation, has no effect, and may be invalid',
  ({ input, value, operation }) => {
    const step = rightStep(operation);
    expect(inputsOf({ ...step, [input]: value })).toEqual({
      ...inputsOf(step),
      unused: `Input \`${input}\` is not used by \`operation: ${operation}\`.`,
    });
    expect(problemsOf({ ...step, [input]: ':::' })).toEqual([]);
  },
);

test('reports every unused input, but not a default that a workflow repeats', () => {
  const given = { ttl: '2h', path: 'a', glob: 'true', 'auto-release': 'true', 'hook-url': 'https://h.example' };
  expect(inputsOf({ ...rightStep('list-workspaces'), ...given }).unused).toBe(
    'Inputs `path`, `ttl`, `hook-url` are not used by `operation: list-workspaces`.',
  );
});

describe('the fallback of an input', () => {
  const environment = {
    WORKSPACE_BASE_URL: 'https://from-environment.example.com/v1',
    WORKSPACE_TOKEN: 'wsa_from_environment',
    WORKSPACE_ID: 'from-environment',
  };

  test('is the environment if the input is empty, and is never reported as unused', () => {
    expect(inputsOf({ operation: 'list-branches', token: '', workspace: '  ' }, environment)).toMatchObject({
      connection: {
        baseUrl: environment.WORKSPACE_BASE_URL,
        credentials: { kind: 'static', token: environment.WORKSPACE_TOKEN },
      },
      task: { workspace: environment.WORKSPACE_ID },
      unused: undefined,
    });
    expect(inputsOf(rightStep('list-branches'), environment)).toEqual(inputsOf(rightStep('list-branches')));
    expect(inputsOf(rightStep('list-workspaces'), environment).unused).toBeUndefined();
  });

  test('is the default if the workflow leaves the input empty', () => {
    const inputs = inputsOf(rightStep('lock', { ttl: '', type: '', wait: ' ', 'auto-release': '', 'on-lost': '' }));
    expect(inputs.task).toMatchObject({
      ttl: { seconds: 3_600 },
      type: 'exclusive',
      wait: { seconds: 0 },
      'auto-release': true,
      'on-lost': 'fail',
    });
  });
});

describe('the branch of a sync', () => {
  const { branch: _, ...step } = rightStep('sync');
  const of = ({ ref, headRef = '' }: { readonly ref: string; readonly headRef?: string }) => ({
    GITHUB_REF: ref,
    GITHUB_HEAD_REF: headRef,
  });

  test.each([
    ['the branch of a push', {}, of(pushEvent('feature/x')), 'feature/x'],
    ['the head of a pull request', {}, of(pullRequestEvent({ number: 7, head: 'topic', base: 'main' })), 'topic'],
    ['the branch in the input', { branch: 'release' }, of(pushEvent('main')), 'release'],
  ])('is %s', (_name, given, environment, branch) => {
    expect(inputsOf({ ...step, ...given }, environment).task).toMatchObject({ branch });
  });

  test.each([
    ['a tag', of(tagEvent('v1.0'))],
    ['no ref', {}],
  ])('must be given in a run for %s', (_name, environment) => {
    expect(problemsOf(step, environment)).toEqual([
      'Input `branch` is missing. The run is not on a branch: name the branch to sync.',
    ]);
  });
});

describe('the notation of values', () => {
  test.each([
    [true, ['true', 'True', 'TRUE', ' true ']],
    [false, ['false', 'False', 'FALSE', '']],
  ])('reads all spellings of %s', (force, spellings) => {
    for (const each of spellings) expect(inputsOf(rightStep('unlock', { force: each })).task).toMatchObject({ force });
  });

  test('takes one owner per line, commas included, and separates events by comma or line break', () => {
    const { task } = inputsOf(rightStep('list-locks', { 'ignore-owner': ' build-bot \n\nDoe, Jane\r\n' }));
    expect(task).toMatchObject({ 'ignore-owner': ['build-bot', 'Doe, Jane'] });
    const hook = inputsOf(rightStep('register-hook', { 'hook-events': 'sync.succeeded, sync.failed\nlock.lost,' }));
    expect(hook.task).toMatchObject({ 'hook-events': ['sync.succeeded', 'sync.failed', 'lock.lost'] });
  });

  test('takes the ETag of a handed-over lock as the service sent it, with quotes or without', () => {
    const given = [{ path: 'a', etag: 'v9' }, { path: 'b', id: 'lock_1', etag: '"v9"' }, { path: 'c' }] as const;
    const { task } = inputsOf(rightStep('unlock', { path: '', locks: JSON.stringify(given) }));
    const selected = given.map((lock) => ({ grant: { path: lock.path, lock } }));
    expect(task).toMatchObject({ locks: selected });
  });

  test('reads the id of a handed-over lock as in a response of the service', () => {
    const given = [
      { path: 'a', id: 7 },
      { path: 'b', lock_id: 'lock_1' },
      { path: 'c', id: '' },
      { path: 'd', id: null },
    ];
    const { task } = inputsOf(rightStep('unlock', { path: '', locks: JSON.stringify(given) }));
    const ids = ['7', 'lock_1', undefined, undefined].map((id) => ({ grant: { lock: { id } } }));
    expect(task).toMatchObject({ locks: ids });
  });

  test.each(['https://w.example/v1', 'http://localhost:8080/v1', 'http://[::1]:8080/v1'])(
    '%s needs no allow-http, and may end in slashes',
    (baseUrl) => {
      for (const written of [baseUrl, `${baseUrl}//`]) {
        expect(inputsOf(rightStep('list-workspaces', { 'base-url': written })).connection).toMatchObject({ baseUrl });
      }
    },
  );
});

describe('the credentials of a step', () => {
  const credentialsOf = (given: Given, environment: NodeJS.ProcessEnv) =>
    inputsOf(rightStep('list-workspaces', given), environment).connection.credentials;
  const identity = {
    kind: 'identity',
    audience: 'https://workspaces.example.com',
    issuer: { requestUrl: github.ACTIONS_ID_TOKEN_REQUEST_URL, requestToken: 'runner-token' },
  };

  test.each<[string, Given, NodeJS.ProcessEnv, object]>([
    ['the token in the input, even if the job could use its identity', { token: 'wsa_1' }, github, { token: 'wsa_1' }],
    ['the token in the environment', { token: '' }, { ...github, WORKSPACE_TOKEN: 'wsa_2' }, { token: 'wsa_2' }],
    ['the identity for the origin of the service, without a token', { token: '' }, github, identity],
    ['the identity for another audience', { token: '', audience: 'films' }, github, { ...identity, audience: 'films' }],
  ])('are %s', (_, given, environment, credentials) => {
    expect(credentialsOf(given, environment)).toEqual({ kind: 'static', ...credentials });
  });

  test('are missing if the identity endpoint has no valid URL, and the problem names both alternatives', () => {
    const environment = { ...github, ACTIONS_ID_TOKEN_REQUEST_URL: 'x' };
    expect(problemsOf(rightStep('list-workspaces', { token: '' }), environment)).toEqual([
      expect.stringMatching(/^Input `token` is missing\..*`id-token: write`, under `permissions:`.*trust rule\.$/),
    ]);
  });
});

describe('the secrets of a step', () => {
  const unset = { 'github-token': '', 'hook-url': 'https://ci.example.com' };
  const secretsOf = (given: Given, environment: NodeJS.ProcessEnv = {}) => {
    const itsEnvironment = stepEnvironment({ ...rightStep('register-hook'), ...unset, ...given }, environment);
    return secretsIn(readRawInputs(getInputOf(itsEnvironment), itsEnvironment));
  };
  const headers = { authorization: 'Bearer hidden', deep: ['deeper'] };
  const whole = {
    token: 'wsa_token',
    'hook-url': 'https://ci.example.com/services/key',
    'hook-secret': 'whsec_input',
    'github-token': 'ghs_token',
    'hook-options': JSON.stringify({ format: 'github', secret: 'whsec_option', headers }),
  };

  test('include its tokens, the webhook with its path and secret, and the secret and headers in the options', () => {
    const inOptions = ['whsec_option', 'Bearer hidden', 'deeper'];
    expect(secretsOf(whole)).toEqual(['wsa_token', whole['hook-url'], 'whsec_input', 'ghs_token', ...inOptions]);
    expect(secretsOf({ token: '' }, { WORKSPACE_TOKEN: 'wsa_environment' })).toEqual(['wsa_environment']);
  });

  test.each(['https://ci.example.com\\services\\key', 'https://key@ci.example.com', 'not a URL'])(
    'include a webhook that is more than an origin: %s',
    (url) => expect(secretsOf({ token: '', 'hook-url': url })).toEqual([url]),
  );

  test('exclude a value so short that hiding it would garble the log', () => {
    expect(secretsOf({ token: 'abc' })).toEqual([]);
  });
});
