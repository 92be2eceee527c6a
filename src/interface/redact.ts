export type Redact = (text: string) => string;

/** With more spellings than this, one pass over the positions of a text is faster than a search for each spelling. */
const maxSearches = 200;

export function createRedactor(secrets: readonly string[]): Redact {
  const spellings = spellingsOf(secrets);
  if (spellings.length <= maxSearches) return (text) => redact(text, spellings);
  const all = new Set(spellings);
  const lengths = [...new Set(spellings.map(({ length }) => length))];
  const least = lengths.at(-1) ?? 0;
  const starts = new Set(spellings.map((spelling) => spelling.slice(0, least)));
  return (text) => {
    let redacted = '';
    let from = 0;
    for (let at = 0; at + least <= text.length; at += 1) {
      if (!starts.has(text.slice(at, at + least))) continue;
      const length = lengths.find((each) => all.has(text.slice(at, at + each)));
      if (length === undefined) continue;
      // Overlapping secrets become one.
      if (at >= from) redacted += `${text.slice(from, at)}***`;
      from = Math.max(from, at + length);
    }
    return redacted + text.slice(from);
  };
}

/**
 * Searches for one spelling at a time: a pattern of all of them could exceed the limit of V8, whose error would contain
 * it. The last spelling is the shortest, and most of the millions of texts that a response may have are shorter.
 */
export const redact = (text: string, spellings: readonly string[]): string =>
  text.length < (spellings.at(-1)?.length ?? 0)
    ? text
    : spellings.reduce((rest, spelling) => (rest.includes(spelling) ? rest.replaceAll(spelling, '***') : rest), text);

/**
 * The secrets and their forms in JSON, URLs, HTML, Base64 and hexadecimal digits. Longest first, so that nothing
 * remains of a secret that starts with another.
 */
export function spellingsOf(secrets: readonly string[]): readonly string[] {
  const all = secrets
    .flatMap(withItsLines)
    .flatMap((text) => [
      text,
      ...(isPlain.test(text) ? [] : [asMisread(text), ...inJson(text), ...inUrls(text), ...inHtml(text)]),
      ...inBase64(text),
      ...inHex(text),
    ]);
  return [...new Set(all)].filter((text) => text !== '').sort((one, other) => other.length - one.length);
}

/** Most tokens have only these characters, which look the same in JSON, URLs, forms, HTML and any encoding. */
const isPlain = /^[\w.-]+$/;

/**
 * RFC 3986 section 2.3, a URI component as JavaScript encodes it, and a form field, each with hex digits in either
 * case.
 */
function inUrls(secret: string): readonly string[] {
  const component = encodeURIComponent(secret.toWellFormed());
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
  const all = [component, component.replaceAll(/[!'()*]/g, percent), inForm];
  return [...all, ...all.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** As written by JavaScript, with slashes escaped like PHP does, and with HTML characters escaped like Go does. */
function inJson(secret: string): readonly string[] {
  const text = JSON.stringify(secret).slice(1, -1);
  const unicode = (character: string): string => `\\u00${character.charCodeAt(0).toString(16)}`;
  return [text, text.replaceAll('/', '\\/'), text.replaceAll(/[<>&]/g, unicode)];
}

const htmlSpelling: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function inHtml(secret: string): readonly string[] {
  const text = secret.replaceAll(/[&<>"]/g, (character) => htmlSpelling[character] ?? character);
  return [text, text.replaceAll("'", '&#39;'), text.replaceAll("'", '&apos;')];
}

/** A shorter secret, once encoded, would match unrelated texts. */
const minEncoded = 8;

/**
 * The offset of the secret matters, because three bytes become four characters. Omits characters that are shared with
 * other bytes.
 */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString('base64');
  if (bytes.length < minEncoded) return whole.length < minEncoded ? [] : [whole];
  const parts = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [whole, ...parts, ...parts.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

const inHex = (secret: string): readonly string[] => {
  const text = Buffer.from(secret).toString('hex');
  return secret.length < minEncoded ? [] : [text, text.toUpperCase()];
};

/** A header in ISO 8859-1 that was decoded as UTF-8. */
const asMisread = (secret: string): string => Buffer.from(secret, 'latin1').toString();

const minLine = 4;

/** Logs arrive line by line, so each line of a secret is a secret itself, with the line breaks of the runner. */
const withItsLines = (secret: string): readonly string[] => [
  secret,
  ...secret
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= minLine),
];
