import { z } from '@hono/zod-openapi';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parsedBy } from '../contract/request-fields.ts';

/** Visible characters of ISO 8859-1, with spaces between them (RFC 9110, section 5.5). */
const visible = '\\x21-\\x7e\\xa0-\\xff';

const valuePattern = new RegExp(`^[${visible}](?:[ ${visible}]*[${visible}])?$`);

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
const reservedHeadersText = `${[...reservedNames].join(', ')}, and names that begin with ${reservedPrefixes.join(', ')}`;

declare const brand: unique symbol;

/** Headers that a hook adds to its deliveries, such as credentials for the receiver. Names are in lower case. */
export type ExtraHeaders = Readonly<Record<string, string>> & { readonly [brand]: 'ExtraHeaders' };

const maxHeaders = 20;
const maxHeaderNameLength = 100;

/** RFC 9110, section 5.6.2. */
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Programs that store headers as members of an object lose this one, also at the receiver. */
const unsafeName = '__proto__';
const unsafeHeaderText = `The header ${unsafeName} cannot be set: programs that read headers lose it.`;

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

const maxHeaderValueLength = 4_096;
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

/**
 * Checks the number of headers before each header: errors for a hundred thousand headers would take a second. Also
 * checks for the unsafe name, because the record of zod silently drops a member with this name.
 */
function checkAllHeaders(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if (Object.keys(given).length > maxHeaders) {
    context.addIssue({ code: 'custom', message: `A hook has at most ${maxHeaders} headers of its own.` });
    return z.NEVER;
  }
  if (Object.hasOwn(given, unsafeName)) context.addIssue({ code: 'custom', message: unsafeHeaderText });
  return given;
}

// A separate object, because the schema type lacks this keyword, which OpenAPI 3.0 did not have.
const propertyNames = { propertyNames: { maxLength: maxHeaderNameLength, pattern: namePattern.source } };

export const extraHeadersField = z
  .preprocess(checkAllHeaders, z.record(z.string(), z.string()).transform(parsedBy(parseExtraHeaders)))
  .default({} as ExtraHeaders) // Same as the result of parseExtraHeaders() without headers.
  .openapi({
    type: 'object',
    default: {},
    maxProperties: maxHeaders,
    ...propertyNames,
    additionalProperties: { type: 'string', maxLength: maxHeaderValueLength, pattern: valuePattern.source },
    description: `Sent with each delivery. Names are case-insensitive. Reserved: ${reservedHeadersText}.`,
  });
