import { z } from '@hono/zod-openapi';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parsedBy } from '../contract/request-fields.ts';

/** Visible characters of ISO 8859-1, with spaces in between (RFC 9110, section 5.5). */
const visible = '\\x21-\\x7e\\xa0-\\xff';

const valuePattern = new RegExp(`^[${visible}](?:[ ${visible}]*[${visible}])?$`);

/** Headers that the delivery sets, that concern one connection (RFC 9110, section 7.6.1), or describe the body. */
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

const reservedHeadersText = `${[...reservedNames].join(', ')}, and names that begin with ${reservedPrefixes.join(', ')}`;

/** Headers that a hook adds to its deliveries, such as credentials for the receiver. Names are in lower case. */
export type ExtraHeaders = Readonly<Record<string, string>>;

const maxHeaders = 20;
const maxHeaderNameLength = 100;

/** RFC 9110, section 5.6.2. */
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function parseExtraHeaders(requested: Readonly<Record<string, string>>): Parsed<ExtraHeaders> {
  if (Object.keys(requested).length > maxHeaders)
    return refused(`A hook can have at most ${maxHeaders} extra headers.`);
  const headers = new Map<string, string>();
  for (const [index, [original, value]] of Object.entries(requested).entries()) {
    const name = original.toLowerCase();
    if (!namePattern.test(name) || name.length > maxHeaderNameLength) {
      return refused(
        `The name of header ${index + 1} is invalid: it must be at most ${maxHeaderNameLength} letters, digits or any of !#$%&'*+-.^_\`|~.`,
      );
    }
    if (isReserved(name)) return refused(`The header ${name} is set by the delivery itself: leave it out.`);
    if (headers.has(name)) return refused(`The header ${name} is given twice: names are case-insensitive.`);
    // The value may be a credential, so it is not quoted.
    if (!valuePattern.test(value) || value.length > maxHeaderValueLength) {
      return refused(
        `The header ${name} has a value that cannot be sent. Was a secret left empty? It must be at most ${maxHeaderValueLength} characters of ISO 8859-1, and not begin or end with a space.`,
      );
    }
    headers.set(name, value);
  }
  return accepted(Object.fromEntries(headers));
}

/** Programs that store headers as members of an object lose `__proto__`. */
const isReserved = (name: string): boolean =>
  name === '__proto__' || reservedNames.has(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix));

const maxHeaderValueLength = 4_096;
// A separate object, because the schema type lacks this keyword, which OpenAPI 3.0 did not have.
const propertyNames = { propertyNames: { maxLength: maxHeaderNameLength, pattern: namePattern.source } };

export const extraHeadersField = z
  .record(z.string(), z.string())
  .transform(parsedBy(parseExtraHeaders))
  .default({})
  .openapi({
    type: 'object',
    default: {},
    maxProperties: maxHeaders,
    ...propertyNames,
    additionalProperties: { type: 'string', maxLength: maxHeaderValueLength, pattern: valuePattern.source },
    description: `Sent with each delivery. Names are case-insensitive. Reserved: ${reservedHeadersText}.`,
  });
