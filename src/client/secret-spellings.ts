/** Encoded, a shorter secret would be found in texts that have nothing to do with it. */
const shortestEncoded = 8;

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** RFC 3986 section 2.3, a URI component as JavaScript writes it, and a form; each with either case of its digits. */
function inAddresses(secret: string): readonly string[] {
  const component = encodeURIComponent(secret.toWellFormed());
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
  const all = [component, component.replaceAll(/[!'()*]/g, percent), inForm];
  return [...all, ...all.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase()))];
}

/** With the slashes as PHP writes them, and the signs of HTML as Go does. */
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

/** Three bytes are four characters, so it matters where the secret begins; those it shares with others are left out. */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < shortestEncoded) return [];
  const parts = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...parts, ...parts.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

const inHex = (secret: string): readonly string[] => {
  const text = Buffer.from(secret).toString('hex');
  return secret.length < shortestEncoded ? [] : [text, text.toUpperCase()];
};

const shortestLine = 4;

/** The log comes line by line, so each line of a secret is one too: as the runner sees it. */
const withItsLines = (secret: string): readonly string[] => [
  secret,
  ...secret
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine),
];

/** As it is, and as it stands in JSON, in addresses, in HTML, in Base64 and in hexadecimal digits. */
export const spellingsOf = (secret: string): readonly string[] =>
  withItsLines(secret).flatMap((text) => [
    text,
    ...inJson(text),
    ...inAddresses(text),
    ...inHtml(text),
    ...inBase64(text),
    ...inHex(text),
  ]);
