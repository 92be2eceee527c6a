import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** Visible characters of ISO 8859-1, with spaces between them (RFC 9110, section 5.5). */
const visible = '\\x21-\\x7e\\xa0-\\xff';

export const valuePattern = new RegExp(`^[${visible}](?:[ ${visible}]*[${visible}])?$`);

/** Set by the delivery itself, specific to one connection (RFC 9110, section 7.6.1), or describing the body. */
const reservedNames = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
const reservedPrefixes = ['webhook-', 'content-', 'proxy-'];

/** Text for the description of the field. */
export const reservedHeadersText = `${[...reservedNames].join(', ')}, and names that begin with ${reservedPrefixes.join(', ')}`;

declare const brand: unique symbol;

/** Headers that a hook adds to its deliveries, such as credentials for the receiver. Names are in lower case. */
export type ExtraHeaders = Readonly<Record<string, string>> & { readonly [brand]: 'ExtraHeaders' };

export const maxHeaders = 20;
export const maxHeaderNameLength = 100;

/** RFC 9110, section 5.6.2. */
export const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Programs that store headers as members of an object lose this one, also at the receiver. */
export const unsafeName = '__proto__';
export const unsafeHeaderText = `The header ${unsafeName} cannot be set: programs that read headers lose it.`;

export function parseExtraHeaders(requested: Readonly<Record<string, string>>): Parsed<ExtraHeaders> {
  const headers = new Map<string, string>();
  for (const [index, [original, value]] of Object.entries(requested).entries()) {
    const name = original.toLowerCase();
    if (!namePattern.test(name) || name.length > maxHeaderNameLength) {
      return refused(
        `The name of header ${index + 1} is invalid: it must be at most ${maxHeaderNameLength} letters, digits or any of !#$%&'*+-.^_\`|~.`,
      );
    }
    if (name === unsafeName) return refused(unsafeHeaderText);
    if (isReserved(name)) return refused(`The header ${name} is set by the delivery itself: leave it out.`);
    if (headers.has(name)) return refused(`The header ${name} is given twice: names are case-insensitive.`);
    const reason = headerValueProblem(value);
    if (reason !== undefined) return refused(`The header ${name} ${reason}`);
    headers.set(name, value);
  }
  // Every entry has been checked above.
  return accepted(Object.fromEntries(headers) as unknown as ExtraHeaders);
}

const isReserved = (name: string): boolean =>
  reservedNames.has(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix));

export const maxHeaderValueLength = 4_096;
const notSendable = new RegExp(`[^ ${visible}]`);

/** The problem does not quote the value, which may be a credential. */
function headerValueProblem(value: string): string | undefined {
  if (value === '') return 'has no value. Was a secret left empty?';
  if (value.length > maxHeaderValueLength) return `has a value of more than ${maxHeaderValueLength} bytes.`;
  if (notSendable.test(value)) return 'has a value with control characters, or with characters outside ISO 8859-1.';
  if (value.startsWith(' ') || value.endsWith(' ')) {
    return 'has a value that begins or ends with a space. Was a secret left empty?';
  }
  return undefined;
}
