import { describe, expect, test } from 'vitest';
import { gitEnvironment } from '../../../src/service/git/git-command.ts';

describe('the environment of git', () => {
  test('contains only the allowed variables of the operator', () => {
    const passedOn = {
      PATH: '/bin',
      HOME: '/home/x',
      SSH_AUTH_SOCK: '/agent',
      GIT_SSL_CAINFO: '/ca',
      https_proxy: 'http://proxy',
    };
    const others = {
      GIT_TRACE: '1',
      GIT_CURL_VERBOSE: '1',
      GIT_SSL_NO_VERIFY: '1',
      GIT_CONFIG_PARAMETERS: "'core.sshCommand=evil'",
      DATABASE_URL: 'postgres://user:password@host',
    };
    const environment = gitEnvironment({ ...passedOn, ...others, GIT_DIR: '/elsewhere' }, { allowFile: false });
    expect(environment).toMatchObject(passedOn);
    for (const name of Object.keys(others)) expect(environment).not.toHaveProperty(name);
    expect(environment['GIT_DIR']).not.toBe('/elsewhere');
    expect(environment['GIT_ALLOW_PROTOCOL']).toBe('https:ssh');
  });

  test('sets the limits of http for a stalled transfer', () => {
    const environment = gitEnvironment({}, { allowFile: false });
    const count = Number(environment['GIT_CONFIG_COUNT']);
    const settings = Array.from({ length: count }, (_, index) => [
      environment[`GIT_CONFIG_KEY_${index}`],
      environment[`GIT_CONFIG_VALUE_${index}`],
    ]);
    expect(settings).toContainEqual(['http.lowSpeedLimit', '1']);
    expect(settings).toContainEqual(['http.lowSpeedTime', '60']);
  });

  test('keeps ssh from prompting, unless the operator has configured ssh', () => {
    const sshOf = (operator: NodeJS.ProcessEnv) => gitEnvironment(operator, { allowFile: false })['GIT_SSH_COMMAND'];
    expect(sshOf({})).toContain('BatchMode=yes');
    expect(sshOf({ GIT_SSH_COMMAND: 'ssh -i key' })).toBe('ssh -i key');
    expect(sshOf({ GIT_SSH: '/bin/plink' })).toBeUndefined();
  });
});
