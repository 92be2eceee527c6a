import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asOneSegment,
  asSegments,
  canonicalLockPath,
  type LockPath,
  lockPathFromUrl,
  maxLockPathBytes,
  parseHeldPath,
  parseLockPath,
} from '../../src/interface/lock-path.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import { runs } from '../support/runs.ts';
import { anyText, pathLike } from './texts.ts';

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
    'A path must not have characters that change the direction of text, nor a space without width (U+200B): it would look like another path.',
  encoding: 'The path is not valid percent-encoded UTF-8.',
} as const;

const whyNot = (parsed: Parsed<unknown>): string => (parsed.ok ? 'accepted' : parsed.why);

const bytesIn = (text: string): number => new TextEncoder().encode(text).length;

/** Every path that one of the generated texts is accepted as. */
const lockPath: fc.Arbitrary<LockPath> = pathLike
  .map(parseLockPath)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value);

/** `C:/a` is a fine path on Linux, but whoever writes it in a workflow means a drive. */
const withoutDrive = lockPath.filter((path) => !/^[a-z]:\//i.test(path));

const encodings = [
  ['one segment', asOneSegment],
  ['several segments', asSegments],
] as const;

const bases = ['https://assets.example/v1/workspaces/w/locks/', 'http://[::1]:8080/a%2Fb/v1/workspaces/%C3%A9/locks/'];

describe('a lock path', () => {
  test('is the same after it was made canonical once more', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = parseLockPath(text);
        if (once.ok) expect(parseLockPath(once.value)).toEqual(once);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test('is one path however its characters are composed', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(parseLockPath(text.normalize('NFD'))).toEqual(parseLockPath(text.normalize('NFC')));
      }),
      { numRuns: runs(300, 5_000) },
    );
    expect(parseLockPath('cafe\u0301.psd')).toEqual({ ok: true, value: 'café.psd' });
  });

  test('keeps everything but the composition of its characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseLockPath(text);
        if (parsed.ok) expect(parsed.value).toBe(text.normalize('NFC'));
      }),
      { numRuns: runs(300, 5_000) },
    );
    expect(parseLockPath('Art/HERO.psd')).not.toEqual(parseLockPath('art/hero.psd'));
  });

  test('has only segments that name something, and no character that ends or hides it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseLockPath(text);
        if (!parsed.ok) return;
        expect(parsed.value).not.toMatch(/[\\\p{Cc}\p{Cs}]/u);
        for (const segment of parsed.value.split('/')) expect(['', '.', '..']).not.toContain(segment);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test.each([
    ['', reason.empty],
    ['a/\ud83d', reason.surrogate],
    ['\udddd/a', reason.surrogate],
    ['a\0b', reason.control],
    ['a/b\n', reason.control],
    ['a\x7f', reason.control],
    ['a\x85b', reason.control],
    ['a\\b', reason.backslash],
    ['/a', reason.absolute],
    ['/', reason.absolute],
    ['a/', reason.folder],
    ['a//b', reason.slashes],
    ['.', reason.dots],
    ['./a', reason.dots],
    ['..', reason.dots],
    ['a/../b', reason.dots],
    ['a/..', reason.dots],
    ['a'.repeat(maxLockPathBytes + 1), reason.long],
  ])('is refused with its reason: %j', (text, why) => {
    expect(whyNot(parseLockPath(text))).toBe(why);
  });

  test.each([
    '...',
    '.gitignore',
    'a/..b',
    'a/b..',
    ' ',
    'a b/c',
    '%2e%2e/a',
    'C:/a',
    'a?b#c',
    '~',
    'シーン/主人公.blend',
  ])('may be unusual: %j', (text) => {
    expect(parseLockPath(text)).toEqual({ ok: true, value: text });
  });

  test('is measured in bytes, after its characters were composed', () => {
    const composed = 'é'.repeat(maxLockPathBytes / 2);
    expect(bytesIn(composed)).toBe(maxLockPathBytes);
    expect(bytesIn(composed.normalize('NFD'))).toBeGreaterThan(maxLockPathBytes);

    expect(parseLockPath(composed.normalize('NFD'))).toEqual({ ok: true, value: composed });
    expect(whyNot(parseLockPath(`${composed}a`))).toBe(reason.long);

    // U+0958 is excluded from composition: NFC makes two characters of it, so that it grows.
    const growing = '\u0958'.repeat(maxLockPathBytes / 3);
    expect(bytesIn(growing)).toBeLessThan(maxLockPathBytes);
    expect(whyNot(parseLockPath(growing))).toBe(reason.long);
  });

  test('has nothing that makes it look like another path, and the joiners that scripts need', () => {
    const misleading = '\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
    for (const character of misleading) {
      const path = `Art/hero${character}.psd`;
      expect(whyNot(parseLockPath(path))).toBe(reason.misleading);
      expect(whyNot(canonicalLockPath(`./${path}`))).toBe(reason.misleading);
      // A lock on it may be there from before.
      expect(lockPathFromUrl(encodeURIComponent(path))).toEqual({ ok: true, value: path });
    }
    for (const joined of ['می\u200cخواهم.psd', 'क्\u200dष.psd', '👩\u200d🚀.png']) {
      expect(parseLockPath(joined)).toEqual({ ok: true, value: joined });
    }
  });

  test('may be written with any characters that compose to it, however many', () => {
    // No character has a longer spelling for its length: iota as the mark that stands for it, and two accents.
    const longest = '\u1fbe\u0308\u0301'.repeat(maxLockPathBytes / 2);
    expect(bytesIn(longest)).toBe(3.5 * maxLockPathBytes);
    expect(parseLockPath(longest)).toEqual({ ok: true, value: '\u0390'.repeat(maxLockPathBytes / 2) });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\u1100\u1161\u11a8', '\u212a', '\u2126\u0313\u0300\u0345', 'e\u0301', 'a')),
        (parts) => {
          const composed = parts.join('').normalize('NFC');
          expect(parseLockPath(parts.join('')).ok).toBe(composed !== '' && bytesIn(composed) <= maxLockPathBytes);
        },
      ),
    );
  });

  test('is looked at for its length before anything else', () => {
    const marks = '\u0345'.repeat(400_000) + '\u0327'.repeat(400_000);
    for (const parse of [parseLockPath, canonicalLockPath, lockPathFromUrl])
      expect(whyNot(parse(marks))).toBe(reason.long);
    expect(whyNot(parseLockPath(`\0${'a'.repeat(maxLockPathBytes)}`))).toBe(reason.long);
  });

  test('is refused with nothing of it in the reason, so that it cannot smuggle text into a message', () => {
    const allReasons: readonly string[] = Object.values(reason);
    fc.assert(
      fc.property(anyText, (text) => {
        for (const parsed of [parseLockPath(text), canonicalLockPath(text), lockPathFromUrl(text)]) {
          if (!parsed.ok) expect(allReasons).toContain(parsed.why);
        }
      }),
      { numRuns: runs(300, 5_000) },
    );
  });
});

describe.each(encodings)('a lock path in a URL, as %s', (_, encode) => {
  test.each(bases)('comes back out of it, and addresses nothing else: %s', (base) => {
    const prefix = new URL(base).pathname;
    fc.assert(
      fc.property(lockPath, (path) => {
        const url = new URL(base + encode(path));

        expect(url.origin).toBe(new URL(base).origin);
        expect(url.pathname.startsWith(prefix)).toBe(true);
        expect(url.search + url.hash).toBe('');

        const sent = url.pathname.slice(prefix.length);
        expect(sent).toBe(encode(path));
        expect(lockPathFromUrl(sent)).toEqual({ ok: true, value: path });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test('is pure ASCII without a character that separates parts of a URL', () => {
    fc.assert(
      fc.property(lockPath, (path) => {
        expect(encode(path)).toMatch(/^[A-Za-z0-9\-_.!~*'()%/]+$/);
      }),
      { numRuns: runs(300, 5_000) },
    );
  });
});

describe('the path of a URL', () => {
  test('is one segment when it was encoded as one, and keeps its slashes when it was not', () => {
    fc.assert(
      fc.property(lockPath, (path) => {
        expect(asOneSegment(path)).not.toContain('/');
        expect(asSegments(path).split('/')).toHaveLength(path.split('/').length);
      }),
    );
  });

  test('is never repaired: what decodes to a refused path is refused', () => {
    fc.assert(
      fc.property(
        anyText.filter((text) => text.isWellFormed()),
        (text) => {
          expect(lockPathFromUrl(encodeURIComponent(text))).toEqual(parseHeldPath(text));
        },
      ),
      { numRuns: runs(300, 5_000) },
    );
  });

  test.each([
    ['%2e%2e/secret', reason.dots],
    ['a/%2E%2e%2Fb', reason.dots],
    ['%2Fetc/passwd', reason.absolute],
    ['a%5Cb', reason.backslash],
    ['a%00b', reason.control],
    ['a%2F', reason.folder],
    ['a%2F%2Fb', reason.slashes],
    ['', reason.empty],
    ['%', reason.encoding],
    ['a%2', reason.encoding],
    ['%zz', reason.encoding],
    ['%C3', reason.encoding],
    ['%C0%AF', reason.encoding],
    ['%ED%A0%80', reason.encoding],
  ])('is refused with its reason: %s', (raw, why) => {
    expect(whyNot(lockPathFromUrl(raw))).toBe(why);
  });

  test('is decoded once', () => {
    expect(lockPathFromUrl('%252e%252e%252Fa')).toEqual({ ok: true, value: '%2e%2e%2Fa' });
  });

  test('keeps a plus sign', () => {
    expect(lockPathFromUrl('a+b')).toEqual({ ok: true, value: 'a+b' });
  });
});

describe('a path as a person writes it', () => {
  test('becomes a lock path that needs no change', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const written = canonicalLockPath(text);
        if (!written.ok) return;
        expect(parseLockPath(written.value)).toEqual(written);
        expect(canonicalLockPath(written.value)).toEqual(written);
      }),
      { numRuns: runs(600, 10_000) },
    );
  });

  test('is the lock path itself where there is nothing to repair', () => {
    fc.assert(
      fc.property(withoutDrive, (path) => {
        expect(canonicalLockPath(path)).toEqual({ ok: true, value: path });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test('is the same path with either slash, and with segments that change nothing', () => {
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
    ['./a/b', 'a/b'],
    ['a/./b', 'a/b'],
    ['.//a', 'a'],
    ['././a', 'a'],
    ['a\\\\b', 'a/b'],
    ['Cafe\u0301\\a.psd', 'Café/a.psd'],
    ['a/C:/b', 'a/C:/b'],
  ])('%j is %j', (text, path) => {
    expect(canonicalLockPath(text)).toEqual({ ok: true, value: path });
  });

  test.each([
    ['', reason.empty],
    ['./', reason.empty],
    ['.', reason.dots],
    ['a/.', reason.dots],
    ['..', reason.dots],
    ['a\\..\\b', reason.dots],
    ['../a', reason.dots],
    ['/x', reason.absolute],
    ['\\x', reason.absolute],
    ['//x', reason.absolute],
    ['/./x', reason.absolute],
    ['\\\\server\\share\\x', reason.absolute],
    ['C:\\x', reason.drive],
    ['c:/x', reason.drive],
    ['.\\C:\\x', reason.drive],
    ['a/', reason.folder],
    ['a\\', reason.folder],
    ['a//', reason.folder],
    ['a/./', reason.folder],
    ['a\nb', reason.control],
    ['\ud83d', reason.surrogate],
    [`a${'/b'.repeat(maxLockPathBytes / 2)}`, reason.long],
  ])('is refused with its reason: %j', (text, why) => {
    expect(whyNot(canonicalLockPath(text))).toBe(why);
  });

  test('is measured after the repair', () => {
    expect(canonicalLockPath(`${'.//'.repeat(maxLockPathBytes)}a`)).toEqual({ ok: true, value: 'a' });
  });
});
