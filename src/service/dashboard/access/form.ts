import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../contract/problem.ts';
import { readText } from '../../http/body.ts';

/** Far more than anybody types. What needs more, such as a token for a hundred workspaces, is for the command or the API. */
export const maxFormBytes = 64 * 1024;
export const maxFormFields = 100;

/** What a form says. Nothing but text, as often as the form has it. */
export interface Form {
  /** The only value of a field, or nothing. */
  text(name: string): string;
  all(name: string): readonly string[];
}

const unreadable = (): Refusal => new Refusal('malformed-request', 'The form cannot be read.');

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw unreadable();
  }
}

/** How many fields a form has is known, and limited, before the first of them is looked at. */
function fieldsOf(text: string): readonly string[] {
  // One more than there may be tells that there are too many.
  const fields = text.split('&', maxFormFields + 1);
  if (fields.length > maxFormFields) {
    const detail = `A form has at most ${maxFormFields} fields, and this one has more, so nothing was done.`;
    throw new Refusal('invalid-request', detail, { errors: [{ pointer: '#', detail }] });
  }
  return fields.filter((field) => field !== '');
}

export function parseForm(text: string): Form {
  const values = new Map<string, string[]>();
  for (const field of fieldsOf(text)) {
    const [encodedName = '', ...encodedValue] = field.split('=');
    const name = decode(encodedName);
    // Browsers send the lines of a text area with CRLF.
    const value = decode(encodedValue.join('=')).replaceAll('\r\n', '\n');
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return {
    text(name) {
      const [value = '', ...more] = values.get(name) ?? [];
      if (more.length > 0) throw unreadable();
      return value;
    },
    all: (name) => values.get(name) ?? [],
  };
}

const isForm = (contentType: string): boolean => /^application\/x-www-form-urlencoded *(?:;|$)/i.test(contentType);

/** The caller has looked at where the form comes from, and at the limit of whoever sends it: reading it is work. */
export async function readForm(incoming: IncomingMessage): Promise<Form> {
  if (!isForm(incoming.headers['content-type'] ?? '')) {
    throw new Refusal('unsupported-media-type', 'A form is sent as application/x-www-form-urlencoded.');
  }
  return parseForm(await readText(incoming, { maxBytes: maxFormBytes, what: 'A form' }));
}
