import type { IncomingMessage } from 'node:http';
import { accepted, type Parsed } from '../../../interface/parsed.ts';
import { Refusal } from '../../contract/problem.ts';
import { isForm, readText } from '../../http/body.ts';
import { decodeUrlencoded } from '../../http/request-target.ts';
import type { FieldValues } from '../elements/fields.ts';

export interface Form extends FieldValues {
  /** The value of a field, or an empty string. Several values are an error. */
  text(name: string): string;
}

/** A form with these values, and otherwise those of another one. */
export const filledIn = (values: Readonly<Record<string, string | readonly string[]>>, others?: Form): Form =>
  formOf((name) => {
    const value = values[name];
    return value === undefined ? (others?.all(name) ?? []) : [value].flat();
  });

/**
 * Far more than people type. For larger input, such as a token for a hundred workspaces, use the command line or the
 * API. Forms with a checkbox in each row of a table set their own number of fields.
 */
export const maxFormBytes = 64 * 1024;

/** Parsing takes time, so the caller must first check the origin of the form and the rate limit of the client. */
export async function readForm(incoming: IncomingMessage, maxFields?: number): Promise<Form> {
  if (!isForm(incoming.headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send forms as application/x-www-form-urlencoded.');
  }
  return parseForm(await readText(incoming, { maxBytes: maxFormBytes, subject: 'A form' }), maxFields);
}

export const maxFormFields = 100;

export function parseForm(text: string, maxFields = maxFormFields): Form {
  const values = new Map<string, string[]>();
  for (const field of fieldsOf(text, maxFields)) {
    const [encodedName = '', ...encodedValue] = field.split('=');
    const name = decode(encodedName);
    // Browsers send CRLF for line ends in a text area.
    const value = decode(encodedValue.join('=')).replaceAll('\r\n', '\n');
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return formOf((name) => values.get(name) ?? []);
}

const formOf = (all: Form['all']): Form => ({
  all,
  text(name) {
    const [value = '', ...more] = all(name);
    if (more.length > 0) throw unreadable();
    return value;
  },
});

function decode(text: string): string {
  const decoded = decodeUrlencoded(text);
  if (decoded === undefined) throw unreadable();
  return decoded;
}

const unreadable = (): Refusal => new Refusal('malformed-request', 'The form cannot be read.');

/** Checks the number of fields before any of them is decoded. */
function fieldsOf(text: string, maxFields: number): readonly string[] {
  // One field more than allowed is enough to detect too many.
  const fields = text.split('&', maxFields + 1);
  if (fields.length > maxFields) {
    const detail = `A form must not have more than ${maxFields} fields. Nothing was done.`;
    throw new Refusal('invalid-request', detail, { errors: [{ pointer: '#', detail }] });
  }
  return fields.filter((field) => field !== '');
}

export type FieldErrors<Field extends string> = Partial<Readonly<Record<Field, string>>>;

export type FormResult<Value, Field extends string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly errors: FieldErrors<Field> };

type ValuesOf<Fields> = {
  readonly [field in keyof Fields]: Fields[field] extends Parsed<infer Value> ? Value : never;
};

/** The values of all fields, or the errors of all invalid ones. */
export function allValues<Fields extends Readonly<Record<string, Parsed<unknown>>>>(
  fields: Fields,
): FormResult<ValuesOf<Fields>, keyof Fields & string> {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [field, parsed] of Object.entries(fields)) {
    if (parsed.ok) values[field] = parsed.value;
    else errors[field] = parsed.reason;
  }
  // The casts are safe: each name is a field of the argument, and each value comes from its parser.
  if (Object.keys(errors).length === 0) return { ok: true, value: values as ValuesOf<Fields> };
  return { ok: false, errors: errors as FieldErrors<keyof Fields & string> };
}

export const optional = <Value>(text: string, parse: (text: string) => Parsed<Value>): Parsed<Value | undefined> =>
  text.trim() === '' ? accepted(undefined) : parse(text.trim());
