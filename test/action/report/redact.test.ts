import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRawInputs, secretsIn } from '../../../src/action/inputs/table.ts';
import { createRedactor, inHtml, oneLine } from '../../../src/action/report/redact.ts';
import { splitLines } from '../../support/runner/lines.ts';
import { parseCommand } from '../../support/runner/workflow-command.ts';
import { getInputOf, rightStep, stepEnvironment } from '../step-environment.ts';
import { hostileText } from './texts.ts';

function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  const splitter = splitLines((line) => lines.push(line));
  splitter.push(`${text}\n`);
  splitter.end();
  return lines;
}

describe('a text as one line of the log', () => {
  test('is one line for the runner, and no command in it, whatever the text', () => {
    fc.assert(
      fc.property(hostileText, fc.constantFrom('', '  ', '\u3000', 'Warning: '), (text, before) => {
        const line = before + oneLine(text);
        expect(linesOf(line)).toEqual([line]);
        expect(parseCommand(line, () => true)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('is no command behind another text either', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (text, other) => {
        expect(parseCommand(oneLine(text + other), () => true)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('shows what cannot be seen, and leaves the rest as it is', () => {
    expect(oneLine('Content/Hero 1.uasset: held by "ada" & <b> [x](y) ##x a::b')).toBe(
      'Content/Hero 1.uasset: held by "ada" & <b> [x](y) ##x a::b',
    );
    expect(oneLine('a\r\nb\u2028c\u202ed\u001b[2J')).toBe('a\\u{d}\\u{a}b\\u{2028}c\\u{202e}d\\u{1b}[2J');
    expect(oneLine('::error::x')).toBe(': :error::x');
    expect(oneLine(' ::error::x')).toBe(' : :error::x');
    expect(oneLine('a ##[error]x')).toBe('a # #[error]x');
    expect(oneLine('%0A::error::x')).toBe('%0A::error::x');
  });
});

describe('a text in HTML', () => {
  const entities: Readonly<Record<string, string>> = {
    '&amp;': '&',
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
  };
  const shown = (html: string): string =>
    html.replaceAll('<wbr>', '').replaceAll(/&[^;]*;/g, (entity) => entities[entity] ?? '\u0000');

  test('is nothing but text, and is shown as it is', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const html = inHtml(text);
        expect(html.replaceAll('<wbr>', '')).toMatch(/^(?:[^<>&"'\p{Cc}\u2028\u2029]|&(?:amp|lt|gt|quot|#39);)*$/u);
        expect(shown(html)).toBe(oneLine(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('becomes no mention, no reference and no emoji', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(inHtml(text).replaceAll('&#39;', '')).not.toMatch(/[@#:](?!<wbr>)/);
      }),
      { numRuns: 2_000 },
    );
  });
});

// Without an asterisk: what stands for a secret could put another one together.
const character = fc.constantFrom(...'abzAZ019-_.~+/=!"\'()&<>:;@#%? ,\\{}[]|^$é\u4e2d\u{1f600}');
const secret = fc.string({ unit: character, minLength: 8, maxLength: 40 }).filter((text) => text.trim() === text);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const lowerHex = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase());

/** How a service, or a program on the way to it, may write down what it got. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in a URL': encodeURIComponent,
  'in a URL, in lower case': (text) => lowerHex(encodeURIComponent(text)),
  'in a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'in JSON': (text) => JSON.stringify(text),
  'in JSON, as PHP writes it': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'in Base64': base64,
  'in Base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'in hexadecimal digits': (text) => Buffer.from(text).toString('hex'),
  'in HTML': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
};

describe.each(Object.entries(spellings))('a secret %s', (_, spell) => {
  test('is taken out, wherever it stands', () => {
    fc.assert(
      fc.property(secret, hostileText, hostileText, (text, before, after) => {
        const spelled = spell(text);
        expect(createRedactor([text])(before + spelled + after)).not.toContain(spelled);
      }),
    );
  });
});

test('no bytes of a secret can be read from Base64, whatever it was encoded together with', () => {
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (text, before, after) => {
      const redacted = createRedactor([text])(base64(before + text + after));
      expect(redacted).toContain('***');
      // Up to two characters on either side belong to a neighbour as well.
      const left = Buffer.from(redacted.replace('***', ''), 'base64').length;
      expect(left).toBeLessThanOrEqual(Buffer.byteLength(before + after) + 3);
    }),
  );
});

test('of a secret with several lines, no line is left', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n  hkiG9w0BAQEFAASC\n-----END KEY-----\n';
  const redact = createRedactor([key]);
  expect(redact('x MIIEvQIBADANBgkq y')).toBe('x *** y');
  expect(redact('hkiG9w0BAQEFAASC')).toBe('***');
  expect(redact(key)).toBe('***');
});

test('of secrets that begin alike, the longer one is taken out as a whole', () => {
  expect(createRedactor(['geheim', 'geheimnis'])('a geheimnis b geheim')).toBe('a *** b ***');
});

test.each([20_000, 60_000])(
  'a secret of %i characters is taken out like any other, and so is a short one beside it',
  (length) => {
    const long = 'abcdefghij'.repeat(length / 10);
    const redact = createRedactor(['geheim', long]);
    expect(redact(`x ${long} y ${Buffer.from(long).toString('hex')} z geheim`)).toBe('x *** y *** z ***');
  },
);

test('many secrets are taken out, the longer of two that begin alike as a whole', () => {
  const many = Array.from({ length: 600 }, (_, number) => `${'geheim'.repeat(10)}${number}`);
  expect(createRedactor(many)(many.join(' '))).toBe(many.map(() => '***').join(' '));
});

test('a text without secrets stays as it is', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(createRedactor([])(text)).toBe(text);
      expect(createRedactor(['x'.repeat(60)])(text)).toBe(text);
    }),
  );
});

test('a secret with half of a character does no harm', () => {
  expect(createRedactor(['abc\ud800defg'])('abc\ud800defg x')).toBe('*** x');
});

describe('what is a secret of a step', () => {
  function secretsOf(given: Readonly<Record<string, string>>, environment = {}) {
    const its = stepEnvironment(rightStep('register-hook', { 'github-token': '', ...given }), environment);
    return secretsIn(readRawInputs(getInputOf(its), its));
  }

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
