import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asOneSegment,
  asSegments,
  canonicalLockPath,
  lockPathFromUrl,
  maxLockPathBytes,
  parseLockPath,
} from '../../src/interface/lock-path.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import { runs } from '../support/runs.ts';
import { anyText, bytesIn, lockPaths } from './texts.ts';

const reason = {
  empty: 'A path must not be empty.',
  surrogate: 'The path is not valid Unicode: it has half of a surrogate pair.',
  control: 'A path must not have control characters.',
  backslash: 'A path is written with /, not with a backslash.',
  absolute: 'A path is relative to the workspace: it must not start with /.',
  drive: 'A path is relative to the workspace: it must not start with a drive (C:).',
  folder: 'A path ends in the name of a file: it must not end with /.',
  slashes: 'A path must not have an empty segment (two slashes in a row).',
  dots: 'A path must not have a segment "." or "..".',
  long: 'A path must not be longer than 1024 bytes.',
  misleading:
    'A path must not have characters that change the direction of text, or a zero-width space (U+200B): it would look like another path.',
  encoding: 'The path is not valid percent-encoded UTF-8.',
} as const;

const whyNot = (parsed: Parsed<unknown>): string => (parsed.ok ? 'accepted' : parsed.reason);

/** `C:/a` is a valid path on Linux, but in a workflow it means a drive. */
const withoutDrive = lockPaths.filter((path) => !/^[a-z]:\//i.test(path));

const bases = ['https://assets.example/v1/workspaces/w/locks/', 'http://[::1]:8080/a%2Fb/v1/workspaces/%C3%A9/locks/'];

const allReasons: readonly string[] = Object.values(reason);

describe('a lock path', () => {
  test('is normalized to composed characters, or rejected with a reason that repeats nothing of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseLockPath(text);
        expect(parseLockPath(text.normalize('NFD'))).toEqual(parseLockPath(text.normalize('NFC')));
        if (!parsed.ok) {
          expect(allReasons).toContain(parsed.reason);
          return;
        }
        expect(parsed.value).toBe(text.normalize('NFC'));
        expect(parseLockPath(parsed.value)).toEqual(parsed);
        expect(parsed.value).not.toMatch(/[\\\p{Cc}\p{Cs}]/u);
        for (const segment of parsed.value.split('/')) expect(['', '.', '..']).not.toContain(segment);
      }),
      { numRuns: runs(600, 10_000) },
    );
  });

  test.each([
    [reason.empty, ['']],
    [reason.surrogate, ['a/\ud83d', '\udddd/a']],
    [reason.control, ['a\0b', 'a/b\n', 'a\x7f', 'a\x85b']],
    [reason.backslash, ['a\\b']],
    [reason.absolute, ['/a', '/']],
    [reason.folder, ['a/']],
    [reason.slashes, ['a//b']],
    [reason.dots, ['.', './a', '..', 'a/../b', 'a/..']],
    [reason.long, ['a'.repeat(maxLockPathBytes + 1)]],
  ])('is rejected with a reason: %s', (reason, texts) => {
    for (const text of texts) expect(whyNot(parseLockPath(text)), text).toBe(reason);
  });

  test('may be unusual, and is case-sensitive', () => {
    const unusual = ['...', '.gitignore', 'a/..b', 'a/b..', ' ', 'a b/c', '%2e%2e/a', 'C:/a', 'a?b#c', '~'];
    for (const text of [...unusual, 'シーン/主人公.blend', 'Art/HERO.psd']) {
      expect(parseLockPath(text)).toEqual({ ok: true, value: text });
    }
  });

  test('is measured in bytes after normalization', () => {
    const composed = 'é'.repeat(maxLockPathBytes / 2);
    expect(bytesIn(composed)).toBe(maxLockPathBytes);
    expect(bytesIn(composed.normalize('NFD'))).toBeGreaterThan(maxLockPathBytes);

    expect(parseLockPath(composed.normalize('NFD'))).toEqual({ ok: true, value: composed });
    expect(whyNot(parseLockPath(`${composed}a`))).toBe(reason.long);

    // U+0958 is a composition exclusion: NFC decomposes it into two characters, so the text grows.
    const growing = '\u0958'.repeat(maxLockPathBytes / 3);
    expect(bytesIn(growing)).toBeLessThan(maxLockPathBytes);
    expect(whyNot(parseLockPath(growing))).toBe(reason.long);
  });

  test('must not contain characters that disguise it, but may contain joiners that scripts need', () => {
    const misleading = '\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
    for (const character of misleading) {
      const path = `Art/hero${character}.psd`;
      expect(whyNot(parseLockPath(path))).toBe(reason.misleading);
      expect(whyNot(canonicalLockPath(`./${path}`))).toBe(reason.misleading);
      expect(whyNot(lockPathFromUrl(encodeURIComponent(path)))).toBe(reason.misleading);
    }
    for (const joined of ['می\u200cخواهم.psd', 'क्\u200dष.psd', '👩\u200d🚀.png']) {
      expect(parseLockPath(joined)).toEqual({ ok: true, value: joined });
    }
  });

  test('may be written in any decomposed form, however long that is', () => {
    // The longest decomposition relative to the composed length: iota as a combining mark, with two accents.
    const longest = '\u1fbe\u0308\u0301'.repeat(maxLockPathBytes / 2);
    expect(bytesIn(longest)).toBe(3.5 * maxLockPathBytes);
    expect(parseLockPath(longest)).toEqual({ ok: true, value: '\u0390'.repeat(maxLockPathBytes / 2) });
  });

  test('is checked for its length first', () => {
    const marks = '\u0345'.repeat(400_000) + '\u0327'.repeat(400_000);
    for (const parse of [parseLockPath, canonicalLockPath, lockPathFromUrl])
      expect(whyNot(parse(marks))).toBe(reason.long);
    expect(whyNot(parseLockPath(`\0${'a'.repeat(maxLockPathBytes)}`))).toBe(reason.long);
  });
});

describe.each([
  ['one segment', asOneSegment],
  ['several segments', asSegments],
])('a lock path in a URL, as %s', (_, encode) => {
  test.each(bases)('is decoded unchanged, and addresses nothing else: %s', (base) => {
    const prefix = new URL(base).pathname;
    fc.assert(
      fc.property(lockPaths, (path) => {
        const written = encode(path);
        expect(written).toMatch(/^[A-Za-z0-9\-_.!~*'()%/]+$/);
        expect(written.split('/')).toHaveLength(encode === asOneSegment ? 1 : path.split('/').length);

        const { origin, pathname, search, hash } = new URL(base + written);
        expect([origin, search, hash]).toEqual([new URL(base).origin, '', '']);
        expect(pathname).toBe(prefix + written);
        expect(lockPathFromUrl(pathname.slice(prefix.length))).toEqual({ ok: true, value: path });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });
});

describe('the path of a URL', () => {
  test('is never repaired: if it decodes to an invalid path, it is rejected without repeating it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (text.isWellFormed()) expect(lockPathFromUrl(encodeURIComponent(text))).toEqual(parseLockPath(text));
        const raw = lockPathFromUrl(text);
        if (!raw.ok) expect(allReasons).toContain(raw.reason);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test.each([
    [reason.dots, ['%2e%2e/secret', 'a/%2E%2e%2Fb']],
    [reason.absolute, ['%2Fetc/passwd']],
    [reason.encoding, ['%', 'a%2', '%zz', '%C3', '%C0%AF', '%ED%A0%80']],
  ])('is rejected with a reason: %s', (reason, texts) => {
    for (const raw of texts) expect(whyNot(lockPathFromUrl(raw)), raw).toBe(reason);
  });

  test('is decoded once, and keeps a plus sign', () => {
    expect(lockPathFromUrl('%252e%252e%252Fa+b')).toEqual({ ok: true, value: '%2e%2e%2Fa+b' });
  });
});

describe('a path as a person writes it', () => {
  test('becomes a canonical lock path, or is rejected with a reason that repeats nothing of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const written = canonicalLockPath(text);
        if (!written.ok) {
          expect(allReasons).toContain(written.reason);
          return;
        }
        expect(parseLockPath(written.value)).toEqual(written);
        expect(canonicalLockPath(written.value)).toEqual(written);
      }),
      { numRuns: runs(600, 10_000) },
    );
  });

  test('may have slashes of either kind, and redundant segments', () => {
    const start = fc.constantFrom('', './', '.\\', './/', '././');
    const separators = fc.infiniteStream(fc.constantFrom('/', '\\', '//', '/\\', '/./', '\\.\\', '/.//./'));
    fc.assert(
      fc.property(withoutDrive, start, separators, (path, before, between) => {
        const written = before + path.replaceAll('/', () => between.next().value);
        expect(canonicalLockPath(written)).toEqual({ ok: true, value: path });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test.each([
    ['a//b', 'a/b'],
    ['.\\a\\b', 'a/b'],
    ['././a/./b', 'a/b'],
    ['Cafe\u0301\\a.psd', 'Café/a.psd'],
    ['a/C:/b', 'a/C:/b'],
    // Measured after normalization.
    [`${'.//'.repeat(maxLockPathBytes)}a`, 'a'],
  ])('%j becomes %j', (text, path) => {
    expect(canonicalLockPath(text)).toEqual({ ok: true, value: path });
  });

  test.each([
    [reason.empty, ['', './']],
    [reason.dots, ['.', 'a/.', '..', 'a\\..\\b', '../a']],
    [reason.absolute, ['/x', '\\x', '//x', '/./x', '\\\\server\\share\\x']],
    [reason.drive, ['C:\\x', 'c:/x', '.\\C:\\x']],
    [reason.folder, ['a/', 'a\\', 'a//', 'a/./']],
    [reason.control, ['a\nb']],
    [reason.surrogate, ['\ud83d']],
    [reason.long, [`a${'/b'.repeat(maxLockPathBytes / 2)}`]],
  ])('is rejected with a reason: %s', (reason, texts) => {
    for (const text of texts) expect(whyNot(canonicalLockPath(text)), text).toBe(reason);
  });
});
