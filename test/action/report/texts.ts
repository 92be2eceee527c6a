import fc from 'fast-check';

const pieces = [
  ...['::', ':', '##[', '##', '[', ']', 'error', 'set-output name=a', 'add-mask', '::error::', '##[group]'],
  ...['\r', '\n', '\r\n', '\t', ' ', '\u00a0', '\u0085', '\u2028', '\u2029', '\u3000', '\ufeff', '\u200b', '\u202e'],
  ...['\u001b[2J', '\0', '%0A', '%0D', '%25', '<', '>', '&', '"', "'", '<script>', '</td></tr></table>', '<!--', '-->'],
  ...['[x](javascript:alert(1))', '![x](http://x)', '*', '_', '`', '|', '\n\n', '# ', '@ada', '#1', ':smile:'],
  ...['&lt;', '&#60;', 'https://x.example', '\ud800', '\udc00', '\u{1f600}', 'a', 'Hero.uasset'],
];

/** Arbitrary texts from a service, mostly harmful ones. */
export const hostileText = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((codes) => String.fromCharCode(...codes)),
);
