/** Shorter values are part of ordinary words, and hide nothing. */
const fewestCharacters = 4;

const hidden = '***';

const inHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** How a receiver may spell what it repeats. The last is a value in ISO 8859-1 that was then read as UTF-8. */
const spellings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
  (secret) => encodeURIComponent(secret.toWellFormed()),
  inHtml,
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => Buffer.from(secret, 'latin1').toString(),
];

/** Text from elsewhere, in which the secrets were hidden, and the beginning of one of them at its end if it was cut off. */
export function withoutSecrets(text: string, secrets: readonly string[], isCut: boolean): string {
  const long = secrets.filter(({ length }) => length >= fewestCharacters);
  const spelled = [...new Set(long.flatMap((secret) => spellings.map((spell) => spell(secret))))];
  if (spelled.length === 0) return text;
  // Of two that begin alike the longer one, so that nothing of it is left. One after the other: a pattern of all of them
  // can be larger than V8 takes, which then repeats it in its error.
  const longestFirst = spelled.toSorted((one, other) => other.length - one.length);
  const shown = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, hidden), text);
  return isCut ? withoutBeginning(shown, longestFirst) : shown;
}

/**
 * How many characters of the beginning of a secret the text ends with. Where one of them does not fit, the longest beginning
 * that ends there is gone on with (Knuth, Morris and Pratt), so that neither text is looked at again and again.
 */
function begunAtEnd(text: string, secret: string): number {
  const shorter: number[] = [0];
  const extend = (length: number, character: string | undefined): number => {
    let begun = length;
    while (begun > 0 && secret[begun] !== character) begun = shorter[begun - 1] ?? 0;
    return secret[begun] === character ? begun + 1 : begun;
  };
  for (let index = 1; index < secret.length; index += 1) {
    shorter.push(extend(shorter[index - 1] ?? 0, secret[index]));
  }
  let begun = 0;
  // As long as a whole secret it is not: that one was hidden.
  for (const character of text.slice(-(secret.length - 1)).split('')) begun = extend(begun, character);
  return begun;
}

function withoutBeginning(text: string, secrets: readonly string[]): string {
  // A character that was cut in the middle. Only where such a run begins is it looked at: most texts with one go on.
  const whole = text.replace(/(?<!\ufffd)\ufffd+$/, '');
  const begun = secrets.map((secret) => begunAtEnd(whole, secret));
  return whole.slice(0, whole.length - Math.max(...begun));
}
