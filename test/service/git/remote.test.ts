import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRemote, shownRemote } from '../../../src/service/git/remote.ts';
import { accessSettings } from '../../../src/service/git/remote-access.ts';
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
  ])('%s is taken', (text, kind, address) => {
    expect(parse(text)).toEqual({ ok: true, value: { kind, address } });
  });

  test.each([
    [''],
    [`https://example.com/${'a'.repeat(2_048)}`],
    ['http://example.com/a'],
    ['git://example.com/a'],
    ['ftp://example.com/a'],
    ['ext::sh -c id'],
    ['ext::sh'],
    ['fd::3'],
    ['helper::https://example.com/a'],
    ['https::https://example.com/a'],
    ['assets.git'],
    ['./assets.git'],
    ['../assets.git'],
    ['team/assets.git'],
    ['host:assets.git'],
    ['C:assets'],
    ['-oProxyCommand=id'],
    ['--upload-pack=id'],
    ['--upload-pack=id https://example.com/a'],
    ['https://example.com/--upload-pack=id'],
    ['git@example.com:--upload-pack=id'],
    ['git@example.com:a/--upload-pack=id'],
    ['/srv/--upload-pack=id'],
    ['git@example.com:-x'],
    ['ssh://-oProxyCommand=id/a'],
    ['ssh://git@-oProxyCommand=id/a'],
    ['ssh://-oProxyCommand=id@example.com/a'],
    ['ssh://%2doProxyCommand=id/a'],
    ['ssh://%2doProxyCommand=id@example.com/a'],
    ['-oProxyCommand=id@example.com:a'],
    ['git@-oProxyCommand=id:a'],
    ['ssh://git:password@example.com/a'],
    ['git:password@example.com:a'],
    ['ssh://git@example.com'],
    ['ssh://git@example.com/'],
    ['ssh://git@example.com:0/a'],
    ['ssh://git@example.com:65536/a'],
    ['ssh://git@/a'],
    ['ssh:git@example.com/a'],
    ['https://'],
    ['https://example.com'],
    ['https://example.com/'],
    ['https:example.com/a'],
    ['https:/example.com/a'],
    ['https:\\\\example.com\\a'],
    ['https://example.com\\@evil.example/a'],
    ['https://-example.com/a'],
    ['https://example.com/a?token=secret'],
    ['https://example.com/a#fragment'],
    ['https://user:%zz@example.com/a'],
    ['https://us%3Aer:password@example.com/a'],
    ['https://user:pass%0d%0aX-Evil:1@example.com/a'],
    ['https://example.com/a\nb'],
    ['https://example.com/a b'],
    [' https://example.com/a'],
    ['https://example.com/a\u00a0'],
    ['https://example.com/\ud800'],
    ['ssh://git@example.com/a%0Ab'],
    ['file://host/srv/assets.git'],
    ['file:srv/assets.git'],
    ['file://'],
  ])('%j is refused with a sentence', (text) => {
    const remote = parse(text);
    expect(remote).toMatchObject({ ok: false, why: expect.stringMatching(/^[A-Z].*[.:]/) });
  });

  test('on the disk is refused unless the operator allows it', () => {
    for (const text of ['file:///srv/assets.git', '/srv/assets.git']) {
      expect(parseRemote(text, { allowFile: false })).toMatchObject({
        ok: false,
        why: expect.stringContaining('--allow-file-remotes'),
      });
    }
  });

  test('that is taken starts no part that git or ssh could take for an option with a dash, and has one meaning', () => {
    const piece = fc.constantFrom(
      ...[
        'https://',
        'ssh://',
        'file://',
        '/',
        ':',
        '::',
        '@',
        '-',
        '--',
        'a',
        'git',
        'ext',
        '%2d',
        '%',
        '?',
        ' ',
        '\\',
      ],
      ...['[', ']', '.', '..', 'host', '=', '\n', '2'],
    );
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
        expect(parse(address)).toEqual({ ok: true, value: { kind, address } });
      }),
      { numRuns: runs(500, 10_000) },
    );
  });
});

describe('credentials', () => {
  const text = 'https://us%40er:p%3Ass%2Fw%C3%B6rd@example.com:8443/team/assets.git';

  test('are split from the address and decoded', () => {
    const remote = remoteAt(text);
    expect(remote.address).toBe('https://example.com:8443/team/assets.git');
    expect(remote.credentials).toEqual({ username: 'us@er', password: 'p:ss/wörd' });
  });

  test('are a header for their own host alone', () => {
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

  test('are not in what is shown, nor in why an address is refused', () => {
    expect(shownRemote(text)).toBe('https://example.com:8443/team/assets.git');
    expect(shownRemote('/srv/assets.git')).toBe('/srv/assets.git');
    for (const bad of [
      'https://user:hunter2@example.com/a?b',
      'ssh://user:hunter2@example.com/a',
      'git://u:hunter2@h/a',
    ]) {
      expect(JSON.stringify(parse(bad))).not.toContain('hunter2');
      expect(shownRemote(bad)).toBe('');
    }
  });
});
