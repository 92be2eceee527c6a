import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCidr } from '../../../src/service/platform/ip-address.ts';
import { checkTarget, maxUrlLength, parseTarget } from '../../../src/service/webhooks/target.ts';
import { createTargetCheck, type Resolve } from '../../../src/service/webhooks/target-address.ts';
import { valueIn, whyOf } from './samples.ts';

const loopback = [valueIn(parseCidr('127.0.0.0/8')), valueIn(parseCidr('::1/128'))];
const publicly: Resolve = async () => ['1.1.1.1', '2606:4700:4700::1111'];
const nowhere: Resolve = () => Promise.reject(new Error('ENOTFOUND'));

const checking = (resolve: Resolve, allowedNetworks = loopback) => createTargetCheck({ allowedNetworks, resolve });

test('https to a public address is a target', async () => {
  const target = valueIn(await checkTarget('https://hooks.example.com/a?b=c', checking(publicly)));
  expect(target.url).toBe('https://hooks.example.com/a?b=c');
});

test('a name is refused when any of its addresses is', async () => {
  for (const addresses of [
    ['1.1.1.1', '192.168.0.1'],
    ['fe80::1', '1.1.1.1'],
  ]) {
    const why = whyOf(
      await checkTarget(
        'https://hooks.example.com/a',
        checking(async () => addresses),
      ),
    );
    expect(why).toMatch(/^https:\/\/hooks\.example\.com leads to a (private|link-local) address\./);
    expect(why).toContain('--allow-hook-network');
  }
});

test('the refusal does not tell which address a name of the internal network has', async () => {
  const why = whyOf(
    await checkTarget(
      'https://wiki.corp.example/',
      checking(async () => ['10.20.30.40']),
    ),
  );
  expect(why).not.toContain('10.20.30.40');
});

test.each([
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://2130706434:8443',
  'https://0xa.1/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::]/',
])('%s is refused as what it is', async (url) => {
  expect(whyOf(await checkTarget(url, checking(nowhere, [])))).toContain('leads to');
});

test('plain http leads only into allowed networks', async () => {
  expect((await checkTarget('http://127.0.0.1:9/x', checking(nowhere))).ok).toBe(true);
  expect((await checkTarget('http://[::1]:9/x', checking(nowhere))).ok).toBe(true);
  expect(
    (
      await checkTarget(
        'http://ci.internal/',
        checking(async () => ['127.0.0.2']),
      )
    ).ok,
  ).toBe(true);
  const mixed = await checkTarget(
    'http://ci.internal/',
    checking(async () => ['127.0.0.2', '1.1.1.1']),
  );
  expect(whyOf(mixed)).toContain('use https');
  expect(whyOf(await checkTarget('http://hooks.example.com/', checking(publicly)))).toContain('use https');
});

test('a name that does not resolve now is accepted for https, and refused for http', async () => {
  for (const resolve of [nowhere, async () => []]) {
    expect((await checkTarget('https://soon.example.com/', checking(resolve))).ok).toBe(true);
    expect(whyOf(await checkTarget('http://soon.example.com/', checking(resolve)))).toContain('does not resolve');
  }
});

test('a name server that does not answer is not waited for', async () => {
  const silent: Resolve = () => new Promise(() => {});
  const limit = { resolveWithinMs: 5 };
  expect((await checkTarget('https://slow.example.com/', checking(silent), limit)).ok).toBe(true);
  expect((await checkTarget('http://slow.example.com/', checking(silent), limit)).ok).toBe(false);
});

test.each([
  ['nothing', ''],
  ['a path', '/hooks'],
  ['another scheme', 'ftp://example.com/s3cret'],
  ['a script', 'javascript:s3cret'],
  ['a file', 'file:///s3cret'],
  ['a user name', 'https://s3cret@example.com/'],
  ['a user name and a password', 'https://me:s3cret@example.com/'],
  ['a fragment', 'https://example.com/#s3cret'],
  ['an empty fragment', 'https://example.com/s3cret#'],
  ['a line break', 'https://example.com/s3cret\n'],
  ['a NUL', 'https://example.com/s3cret\0'],
  ['a space before it', ' https://example.com/s3cret'],
  ['a host that is none', 'https://exa mple.com/s3cret'],
  ['an address that is none', 'https://1.2.3.256/s3cret'],
  ['a port that is none', 'https://example.com:99999/s3cret'],
  ['too many characters', `https://example.com/s3cret${'x'.repeat(maxUrlLength)}`],
  ['too many characters once encoded', `https://example.com/s3cret${'ä'.repeat(maxUrlLength / 4)}`],
])('%s is not a target, and the refusal repeats nothing of it', (_, text) => {
  expect(whyOf(parseTarget(text))).not.toContain('s3cret');
});

test('what is accepted is accepted again, unchanged', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }), (text) => {
      const target = valueIn(parseTarget(text));
      expect(parseTarget(target.url)).toEqual({ ok: true, value: target });
    }),
  );
});

test('no sentence has the path or the query of the URL', async () => {
  const url = 'hooks.example.com/s3cret?token=s3cret';
  const answers = [
    await checkTarget(`http://${url}`, checking(publicly)),
    await checkTarget(`http://${url}`, checking(nowhere)),
    await checkTarget(
      `https://${url}`,
      checking(async () => ['10.0.0.1']),
    ),
  ];
  for (const answer of answers) expect(whyOf(answer)).not.toContain('s3cret');
});
