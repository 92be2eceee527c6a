import type { IncomingMessage } from 'node:http';
import type { Parsed } from '../../../interface/parsed.ts';
import { Refusal } from '../../contract/response.ts';
import { isForm, readText } from '../../http/body.ts';
import type { FieldErrors } from '../elements/fields.ts';

/** Far more than people type. The command line and the API accept larger input. */
export const maxFormBytes = 64 * 1024;

/** Reading takes time, so callers must first check the origin of the form and the rate limit of the client. */
export async function readForm(incoming: IncomingMessage): Promise<URLSearchParams> {
  if (!isForm(incoming.headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send forms as application/x-www-form-urlencoded.');
  }
  return new URLSearchParams(await readText(incoming, maxFormBytes));
}

export const textIn = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? '';

type ValuesOf<Fields> = {
  readonly [field in keyof Fields]: Fields[field] extends Parsed<infer Value> ? Value : never;
};

/** The values of all fields, or the errors of the invalid ones. */
export function allValues<Fields extends Readonly<Record<string, Parsed<unknown>>>>(
  fields: Fields,
): { readonly ok: true; readonly value: ValuesOf<Fields> } | { readonly ok: false; readonly errors: FieldErrors } {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [field, parsed] of Object.entries(fields)) {
    if (parsed.ok) values[field] = parsed.value;
    else errors[field] = parsed.reason;
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  // The cast is safe: each name is a field of the argument, and each value comes from its parser.
  return { ok: true, value: values as ValuesOf<Fields> };
}
