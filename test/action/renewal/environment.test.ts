import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainVariables, proxyVariables, variablesLike } from '../../../src/action/renewal/renewer.ts';

const secret = ['INPUT_TOKEN', 'INPUT_PATH', 'WORKSPACE_TOKEN', 'GITHUB_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'];
const proxies = ['http_proxy', 'HTTPS_PROXY', 'no_proxy'];
const plain = ['PATH', 'Path', 'RUNNER_TRACKING_ID', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SystemRoot'];
const environment = Object.fromEntries(
  [...secret, ...proxies, ...plain, 'MY_PATH', 'all_proxy'].map((name) => [name, 'x']),
);

test('the environment of the renewal process, which later steps can read, contains no secrets', () => {
  expect(Object.keys(variablesLike(plainVariables, environment))).toEqual(plain);
  expect(Object.keys(variablesLike(proxyVariables, environment))).toEqual(proxies);
  fc.assert(
    fc.property(fc.constantFrom('INPUT_', 'GITHUB_', 'WORKSPACE_', 'ACTIONS_'), fc.string(), (prefix, name) => {
      expect(variablesLike(plainVariables, { [prefix + name]: 'x' })).toEqual({});
    }),
  );
});
