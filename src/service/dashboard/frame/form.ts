import type { IncomingMessage } from 'node:http';
import type { Parse } from '../../../interface/parsed.ts';
import { invalid, Refusal } from '../../contract/response.ts';
import { isForm, readText } from '../../http/body.ts';

/** Far more than people type. The command line and the API accept larger input. */
export const maxFormBytes = 64 * 1024;

/** Reading takes time, so callers must first check the origin of the form and the rate limit of the client. */
export async function readForm(incoming: IncomingMessage): Promise<URLSearchParams> {
  if (!isForm(incoming.headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send forms as application/x-www-form-urlencoded.');
  }
  return new URLSearchParams(await readText(incoming, maxFormBytes));
}

/** Without surrounding spaces. Checked boxes are joined by spaces. */
export const textIn = (form: URLSearchParams, name: string): string => form.getAll(name).join(' ').trim();

/** The values of these fields. Throws the errors of all invalid ones. */
export function readFields<Values extends object>(
  form: URLSearchParams,
  parsers: { readonly [Name in keyof Values]: Parse<Values[Name]> },
): Values {
  const parsed = Object.entries<Parse<unknown>>(parsers).map(
    ([name, parse]) => [name, parse(textIn(form, name))] as const,
  );
  const errors = parsed.flatMap(([name, field]) => (field.ok ? [] : [{ pointer: `#/${name}`, detail: field.reason }]));
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid(first, ...more);
  // The cast is safe: each name is a key of the parsers, and each value comes from its parser.
  return Object.fromEntries(parsed.map(([name, field]) => [name, field.ok && field.value])) as Values;
}
