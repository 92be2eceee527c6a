import { expect, test } from 'vitest';
import { checkTarget, maxUrlLength, parseTarget, type Resolve } from '../../../src/service/outbound/target.ts';
import { words } from '../http/shared-service.ts';
import { always, checking, localCheck, nowhere } from './delivering.ts';
import { whyOf } from './samples.ts';

/** A URL with parts that no message may contain. */
const urlWith = (base: string): string => `${base}/s3cret?token=s3cret`;
const refusalOf = async (base: string, ...terms: Parameters<typeof checking>): Promise<string> => {
  const reason = whyOf(await checkTarget(urlWith(base), checking(...terms), 'game'));
  expect(reason).not.toContain('s3cret');
  return reason;
};

test('a name is refused if any of its IP addresses is, without revealing internal addresses', async () => {
  for (const addresses of [
    ['1.1.1.1', '192.168.0.1'],
    ['fe80::1', '1.1.1.1'],
  ]) {
    const reason = await refusalOf('https://hooks.example.com', always(...addresses));
    expect(reason).toContain('--allow-hook-network');
    expect(reason.startsWith('https://hooks.example.com leads to an address that is not public. ')).toBe(true);
    for (const address of addresses) expect(reason).not.toContain(address);
  }
});

const spellings = words(`
  https://10.0.0.1 https://169.254.169.254 https://2130706434:8443 https://0xa.1 https://012.0.0.1 https://10.1
  https://10.0.0.1. https://１０.0.0.1 https://%31%30.0.0.1 https://[::FFFF:10.0.0.1]
  https://[0:0:0:0:0:ffff:0a00:0001] https://[::]`);
test.each(spellings)('%s is refused as an IP address in any spelling', async (base) => {
  expect(await refusalOf(base, nowhere, [])).toContain('leads to');
});

test('plain http is accepted only for allowed networks', async () => {
  for (const url of ['http://127.0.0.1:9/x', 'http://[::1]:9/x']) {
    expect((await checkTarget(url, localCheck, 'game')).ok).toBe(true);
  }
  expect((await checkTarget('http://ci.internal/', checking(always('127.0.0.2')), 'game')).ok).toBe(true);
  expect(await refusalOf('http://ci.internal', always('127.0.0.2', '1.1.1.1'))).toContain('use https');
  expect(await refusalOf('http://hooks.example.com', always('1.1.1.1'))).toContain('use https');
});

test('a name that does not resolve is accepted for https, and refused for http', async () => {
  for (const resolve of [nowhere, always()]) {
    expect((await checkTarget('https://soon.example.com/', checking(resolve), 'game')).ok).toBe(true);
    expect(await refusalOf('http://soon.example.com', resolve)).toContain('could not be resolved');
  }
});

test('an unresponsive name server does not delay the check', async () => {
  const silent: Resolve = () => new Promise(() => {});
  const limit = { resolveWithinMs: 5 };
  expect((await checkTarget('https://slow.example.com/', checking(silent), 'game', limit)).ok).toBe(true);
  expect((await checkTarget('http://slow.example.com/', checking(silent), 'game', limit)).ok).toBe(false);
});

test.each([
  ['an empty text', ''],
  ['another scheme', 'ftp://example.com/s3cret'],
  ['a user name', 'https://s3cret@example.com/'],
  ['a user name and a password', 'https://me:s3cret@example.com/'],
  ['a fragment', 'https://example.com/#s3cret'],
  ['an empty fragment', 'https://example.com/s3cret#'],
  ['a line break', 'https://example.com/s3cret\n'],
  ['a NUL', 'https://example.com/s3cret\0'],
  ['a leading space', ' https://example.com/s3cret'],
  ['an invalid host', 'https://exa mple.com/s3cret'],
  ['a text that is too long', `https://example.com/s3cret${'x'.repeat(maxUrlLength)}`],
  ['a text that is too long once encoded', `https://example.com/s3cret${'ä'.repeat(maxUrlLength / 4)}`],
])('%s is not a target, and its rejection repeats nothing of it', (_, text) => {
  expect(whyOf(parseTarget(text))).not.toContain('s3cret');
});
