import { invalid, type Refusal } from '../contract/problem.ts';

/** A name or a value as forms write it, with a plus for a space; undefined where it is no percent-encoded UTF-8. */
export function decodeUrlencoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const wrong = (name: string, detail: string): Refusal => invalid({ pointer: `#/${name}`, detail });

/**
 * The parameters with these names; others are ignored. A common reader of queries keeps what cannot be decoded as it
 * is, and takes one of several values: both would only guess what was meant, so both are refused.
 */
export function readQuery(requestTarget: string, names: readonly string[]): Readonly<Record<string, string>> {
  const [, query = ''] = /\?([^#]*)/.exec(requestTarget) ?? [];
  const values = new Map<string, string>();
  for (const parameter of query.split('&')) {
    const [encodedName = '', ...encodedValue] = parameter.split('=');
    const name = decodeUrlencoded(encodedName);
    if (name === undefined || !names.includes(name)) continue;
    const value = decodeUrlencoded(encodedValue.join('='));
    if (value === undefined) throw wrong(name, 'It is not valid percent-encoded UTF-8.');
    if (values.has(name)) throw wrong(name, 'It is given more than once.');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}
