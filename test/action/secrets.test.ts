import { describe, expect, test } from 'vitest';
import { readRawInputs, secretsIn } from '../../src/action/inputs/table.ts';
import { getInputOf, rightStep, stepEnvironment } from './step-environment.ts';

describe('what is a secret of a step', () => {
  const secretsOf = (given: Readonly<Record<string, string>>, environment: NodeJS.ProcessEnv = {}) => {
    const itsEnvironment = stepEnvironment(rightStep('register-hook', { 'github-token': '', ...given }), environment);
    return secretsIn(readRawInputs(getInputOf(itsEnvironment), itsEnvironment));
  };

  test('its tokens, the secret of its hook, and in the options the secret and the headers', () => {
    const options = {
      format: 'github',
      secret: 'whsec_option',
      headers: { authorization: 'Bearer hidden', deep: ['deeper'] },
    };
    expect(
      secretsOf({
        token: 'wsa_token',
        'hook-secret': 'whsec_input',
        'github-token': 'ghs_token',
        'hook-options': JSON.stringify(options),
      }),
    ).toEqual(['wsa_token', 'whsec_input', 'ghs_token', 'whsec_option', 'Bearer hidden', 'deeper']);
  });

  test('the token of the environment', () => {
    expect(secretsOf({ token: '' }, { WORKSPACE_TOKEN: 'wsa_environment' })).toEqual(['wsa_environment']);
  });

  test('also where the step is wrong in every way', () => {
    expect(secretsOf({ operation: 'x', token: 'two words', 'hook-options': '{' })).toEqual(['two words']);
  });

  test('not what is so short that half of the log would be gone', () => {
    expect(secretsOf({ token: 'abc' })).toEqual([]);
  });
});
