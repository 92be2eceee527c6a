import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accessSettings, parseRemote, redactRemote } from '../../../src/service/git/remote.ts';
import { remoteAt } from '../../support/git-service.ts';
import { runs } from '../../support/runs.ts';

const parse = (text: string) => parseRemote(text, { allowFile: true });

describe('the address of a remote', () => {
  test.each([
    ['https://example.com/team/assets.git', 'https', 'https://example.com/team/assets.git'],
    ['HTTPS://Example.com:8443/a', 'https', 'https://example.com:8443/a'],
    ['https://[::1]:8443/a', 'https', 'https://[::1]:8443/a'],
    ['ssh://git@example.com/team/assets.git', 'ssh', 'ssh://git@example.com/team/assets.git'],
    ['ssh://example.com:2222/~me/assets', 'ssh', 'ssh://example.com:2222/~me/assets'],
    ['SSH://git@[::1]:22/a', 'ssh', 'ssh://git@[::1]:22/a'],
    ['git@example.com:team/assets.git', 'ssh', 'git@example.com:team/assets.git'],
    ['git@example.com:/srv/assets.git', 'ssh', 'git@example.com:/srv/assets.git'],
    ['file:///srv/assets.git', 'file', 'file:///srv/assets.git'],
    ['/srv/assets.git', 'file', '/srv/assets.git'],
  ])('%s is accepted', (text, kind, address) => {
    expect(parse(text)).toEqual({ ok: true, value: { kind, address } });
  });

  test.each([
    [
      'an unsupported protocol',
      'http://e.com/a git://e.com/a ext::sh https::https://e.com/a ssh:git@e.com/a file:srv/a.git',
    ],
    [
      'an incomplete address',
      ' https:// https://e.com/ https:/e.com/a ssh://git@e.com/ ssh://git@/a file://host/srv/a.git',
    ],
    ['a relative path or a drive', 'assets.git ../assets.git host:assets.git C:assets'],
    ['an option as path', 'https://e.com/--upload-pack=id git@e.com:--upload-pack=id git@e.com:a/--upload-pack=id'],
    [
      'an option as address',
      '--upload-pack=id /srv/--upload-pack=id git@e.com:-x -oProxyCommand=id@e.com:a https://-e.com/a',
    ],
    ['an option as host', 'ssh://-oProxyCommand=id/a ssh://git@-oProxyCommand=id/a git@-oProxyCommand=id:a'],
    ['an option as user', 'ssh://-oProxyCommand=id@e.com/a ssh://%2doProxyCommand=id/a'],
    ['a password that ssh does not support', 'ssh://git:password@e.com/a git:password@e.com:a'],
    ['an invalid port', 'ssh://git@e.com:0/a ssh://git@e.com:65536/a'],
    [
      'a query, a fragment or a backslash',
      'https://e.com/a?token=secret https://e.com/a#fragment https://e.com\\@evil.example/a',
    ],
    ['invalid encoding', 'https://user:%zz@e.com/a https://us%3Aer:password@e.com/a https://e.com/\ud800'],
    ['an encoded line break', 'https://user:pass%0d%0aX-Evil:1@e.com/a ssh://git@e.com/a%0Ab'],
  ])('is rejected with a reason: %s', (_, addresses) => {
    for (const text of addresses.split(' ')) {
      expect(parse(text), text).toMatchObject({ ok: false, reason: expect.stringMatching(/^[A-Z].*[.:]/) });
    }
  });

  test.each(['ext::sh -c id', '--upload-pack=id https://e.com/a', 'https://e.com/a\nb', 'https://e.com/a\u00a0'])(
    '%j is rejected because it contains whitespace',
    (text) => {
      expect(parse(text).ok).toBe(false);
    },
  );

  test('is rejected if it is too long', () => {
    expect(parse(`https://example.com/${'a'.repeat(2_048)}`).ok).toBe(false);
  });

  test('is rejected if it is a local path, unless the operator allows those', () => {
    for (const text of ['file:///srv/assets.git', '/srv/assets.git']) {
      expect(parseRemote(text, { allowFile: false })).toMatchObject({
        ok: false,
        reason: expect.stringContaining('--allow-file-remotes'),
      });
    }
  });

  test('has no part that git or ssh could take for an option, and parses to itself again', () => {
    const protocols = ['https://', 'ssh://', 'file://', '/', ':', '::', '@', '-', '--', '%2d', '%', '?', ' ', '\\'];
    const words = ['a', 'git', 'ext', '[', ']', '.', '..', 'host', '=', '\n', '2'];
    const piece = fc.constantFrom(...protocols, ...words);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const remote = parse(pieces.join(''));
        if (!remote.ok) return;
        const { kind, address } = remote.value;
        expect(address).not.toMatch(/^-|\s|\/--/);
        switch (kind) {
          case 'https':
            expect(address).toMatch(/^https:\/\/(?!-)[^/@\\]+\/./);
            break;
          case 'ssh': {
            const name = '(?!-)[a-z0-9.-]+';
            const host = `(${name}|\\[[0-9:]+\\])`;
            expect(address).toMatch(new RegExp(`^(ssh://(${name}@)?${host}(:\\d+)?/.|${name}@${host}:(?!-).)`));
            break;
          }
          case 'file':
            expect(address).toMatch(/^(file:\/\/)?\//);
        }
        expect(parse(address)).toEqual({ ok: true, value: { ...remote.value, credentials: undefined } });
      }),
      { numRuns: runs(500, 10_000) },
    );
  });
});

describe('credentials', () => {
  const text = 'https://us%40er:p%3Ass%2Fw%C3%B6rd@example.com:8443/team/assets.git';

  test('are sent as a header, and only to their own host', () => {
    const [[key, value] = []] = Object.entries(accessSettings(remoteAt(text)));
    expect(key).toBe('http.https://example.com:8443/.extraHeader');
    const [, encoded = ''] = /^Authorization: Basic (.*)$/.exec(value ?? '') ?? [];
    expect(Buffer.from(encoded, 'base64').toString()).toBe('us@er:p:ss/wörd');
  });

  test('are not printed with the remote', () => {
    const remote = remoteAt(text);
    for (const printed of [JSON.stringify(remote), inspect(remote), JSON.stringify({ ...remote })]) {
      expect(printed).not.toMatch(/wörd|us@er/);
      expect(printed).toContain('assets.git');
    }
  });

  test('appear neither in the displayed address nor in the reason for a rejection', () => {
    expect(redactRemote(text)).toBe('https://example.com:8443/team/assets.git');
    expect(redactRemote('/srv/assets.git')).toBe('/srv/assets.git');
    for (const bad of [
      'https://user:hunter2@example.com/a?b',
      'ssh://user:hunter2@example.com/a',
      'git://u:hunter2@h/a',
    ]) {
      expect(JSON.stringify(parse(bad))).not.toContain('hunter2');
      expect(redactRemote(bad)).toBe('');
    }
  });
});
