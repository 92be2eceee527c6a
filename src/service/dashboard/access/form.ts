import type { MiddlewareHandler } from 'hono';
import { readText } from '../../http/body.ts';
import type { Environment } from '../../http/environment.ts';
import { Refusal } from '../../http/refusal.ts';

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

export function parseForm(text: string): Form {
  const values = new Map<string, string[]>();
  for (const field of text.split('&').filter((part) => part !== '')) {
    const [name = '', ...value] = field.split('=');
    const known = values.get(decode(name)) ?? [];
    // Browsers send the lines of a text area with CRLF.
    values.set(decode(name), [...known, decode(value.join('=')).replaceAll('\r\n', '\n')]);
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

export const readForm: MiddlewareHandler<Environment> = async (c, next) => {
  if (!isForm(c.req.header('content-type') ?? '')) {
    throw new Refusal('unsupported-media-type', 'A form is sent as application/x-www-form-urlencoded.');
  }
  c.set('form', parseForm(await readText(c.env.incoming)));
  await next();
};
