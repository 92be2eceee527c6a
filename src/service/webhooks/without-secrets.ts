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

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Text from elsewhere, in which the secrets were hidden, and the beginning of one of them at its end if it was cut off. */
export function withoutSecrets(text: string, secrets: readonly string[], isCut: boolean): string {
  const long = secrets.filter(({ length }) => length >= fewestCharacters);
  const spelled = [...new Set(long.flatMap((secret) => spellings.map((spell) => spell(secret))))];
  if (spelled.length === 0) return text;
  // Of two that begin alike the longer one, so that nothing of it is left.
  const longestFirst = spelled.toSorted((one, other) => other.length - one.length);
  const shown = text.replaceAll(new RegExp(longestFirst.map((secret) => literally(secret)).join('|'), 'g'), hidden);
  return isCut ? withoutBeginning(shown, longestFirst) : shown;
}

function withoutBeginning(text: string, secrets: readonly string[]): string {
  // A character that was cut in the middle.
  const whole = text.replace(/\ufffd+$/, '');
  const begun = secrets.map((secret) => {
    let length = Math.min(secret.length - 1, whole.length);
    while (!whole.endsWith(secret.slice(0, length))) length -= 1;
    return length;
  });
  return whole.slice(0, whole.length - Math.max(...begun));
}
