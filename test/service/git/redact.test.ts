import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { summarizeErrors } from '../../../src/service/git/git-output.ts';
import { createRemoteRedactor } from '../../../src/service/git/remote.ts';
import { remoteAt } from '../../support/git-service.ts';

const token = fc.stringMatching(/^[A-Za-z0-9!$&'()*+,;=.~_-]{12,40}$/);

describe('redaction', () => {
  test('removes every form of the credentials from a text', () => {
    fc.assert(
      fc.property(token, token, (username, password) => {
        const remote = remoteAt(`https://${username}:${encodeURIComponent(password)}@example.com/a`);
        const pair = `${username}:${password}`;
        const encoded = Buffer.from(pair).toString('base64');
        const text = [pair, password, encodeURIComponent(password), username, encoded, `https://${pair}@example.com/a`];
        const shown = createRemoteRedactor(remote)(text.join(' and '));
        for (const secret of [password, encodeURIComponent(password), username, encoded]) {
          expect(shown).not.toContain(secret);
        }
      }),
    );
  });

  test('redacts a user name that may be a token, but not a common one', () => {
    expect(createRemoteRedactor(remoteAt('https://t0k3n@example.com/a'))('token t0k3n')).toBe('token ***');
    expect(createRemoteRedactor(remoteAt('https://git:password@example.com/a'))('git failed')).toBe('git failed');
  });

  test('removes credentials from the URLs and headers of unknown remotes', () => {
    expect(createRemoteRedactor(undefined)('at https://a:b@one/x and ssh://c@two/y')).toBe(
      'at https://one/x and ssh://two/y',
    );
    expect(createRemoteRedactor(undefined)('< Authorization: Basic abc=')).toBe('< Authorization: ***');
    expect(createRemoteRedactor(undefined)('no https://a/b?signature=abc&x=1 there')).toBe('no https://a/b?*** there');
  });
});

describe('an error message of git', () => {
  test('keeps the last lines of the output, and drops progress and advice', () => {
    expect(
      summarizeErrors([
        'remote: Enumerating objects: 5, done.        ',
        'remote: Total 5 (delta 0), reused 0 (delta 0)',
        'Receiving objects:  40% (2/5)',
        'git@example.com: Permission denied (publickey).',
        'fatal: Could not read from remote repository.',
        '',
        'Please make sure you have the correct access rights',
        'and the repository exists.',
      ]),
    ).toBe('git@example.com: Permission denied (publickey). fatal: Could not read from remote repository.');
  });

  test('is short and on one line, whatever a remote sends', () => {
    const words = summarizeErrors([`remote: \u001b[31m${'x'.repeat(5_000)}`]);
    expect(words).toMatch(/^remote: +\[31mx+…$/);
    expect(words.length).toBeLessThan(600);
  });
});
