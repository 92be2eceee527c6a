import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellQuoted, shellWord } from '../../src/interface/shell-word.ts';

// Command arguments cannot contain NUL.
const texts = fc.array(
  fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\0', "'")),
  {
    minLength: 1,
    maxLength: 200,
  },
);

it.each([shellWord, shellQuoted])('a shell reads any text back as a single word: %o', (written) => {
  fc.assert(
    fc.property(texts, (words) => {
      const script = `printf '%s\\0' ${words.map(written).join(' ')}`;
      expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(words.map((word) => `${word}\0`).join(''));
    }),
    { numRuns: 20, examples: [[["'", '$HOME', '`id`', '*', '~', '#', '', '\\', '\n', '!', '-n', "'\\''"]]] },
  );
});
