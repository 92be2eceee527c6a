import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  environmentOfRenewal,
  parseRenewalTask,
  proxiesIn,
  type RenewalTask,
} from '../../../src/action/renewal/task.ts';
import { place } from '../../locks/samples.ts';

const whole: RenewalTask = {
  connection: {
    allowHttp: false,
    baseUrl: place.service,
    credentials: { kind: 'static', token: 'wsa_1' },
    requestTimeout: { seconds: 30 },
    retries: 4,
  },
  origin: 'https://ci.example.com/7',
  ledgerFile: '/tmp/ledger.jsonl',
  step: 's',
  workspace: place.workspace,
  ttl: '5m',
  grants: [],
  ageMs: 12,
  cancels: undefined,
  clockOffsetMs: -3.5,
  worker: { pid: 7, startedAt: '8' },
  proxies: { https_proxy: 'http://u:p@proxy' },
};

const identity = {
  kind: 'identity',
  audience: 'https://workspaces.example.com',
  requestUrl: 'https://run.actions.example/7/idtoken?api-version=2.0',
  requestToken: 'runner-token',
} as const;

describe('the task of the renewal process', () => {
  test.each<[string, Partial<RenewalTask>]>([
    ['with all details', {}],
    ['for a job that authenticates with its identity', { connection: { ...whole.connection, credentials: identity } }],
    ['without run, worker and proxies', { origin: undefined, worker: undefined, proxies: {} }],
    [
      'with the run to cancel',
      {
        cancels: {
          apiUrl: 'https://api.github.com',
          repository: { owner: 'octo-games', repo: 'dragon' },
          run: '1001',
          token: 'ghs_1',
        },
      },
    ],
    ['without the start time of the worker', { worker: { pid: 7, startedAt: undefined } }],
  ])('survives the pipe unchanged: %s', (_, more) => {
    const task = { ...whole, ...more };
    expect(parseRenewalTask(JSON.stringify(task))).toEqual(task);
  });

  test('is undefined if it was truncated', () => {
    const text = JSON.stringify(whole);
    for (let length = 0; length < text.length; length += 1) {
      expect(parseRenewalTask(text.slice(0, length))).toBeUndefined();
    }
  });
});

const secret = ['INPUT_TOKEN', 'INPUT_PATH', 'WORKSPACE_TOKEN', 'GITHUB_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];
const proxies = ['http_proxy', 'HTTPS_PROXY', 'no_proxy'];
const plain = ['PATH', 'Path', 'RUNNER_TRACKING_ID', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SystemRoot'];
const environment = Object.fromEntries(
  [...secret, ...proxies, ...plain, 'MY_PATH', 'all_proxy'].map((name) => [name, 'x']),
);

test('the environment of the renewal process, which later steps can read, contains no secrets', () => {
  expect(Object.keys(environmentOfRenewal(environment))).toEqual(plain);
  expect(Object.keys(proxiesIn(environment))).toEqual(proxies);
  fc.assert(
    fc.property(fc.constantFrom('INPUT_', 'GITHUB_', 'WORKSPACE_', 'ACTIONS_'), fc.string(), (prefix, name) => {
      expect(environmentOfRenewal({ [prefix + name]: 'x' })).toEqual({});
    }),
  );
});
