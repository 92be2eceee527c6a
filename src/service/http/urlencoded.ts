import { invalid, type Refusal } from '../contract/problem.ts';
import { pointerTo } from '../contract/validate.ts';

const maxNameLength = 100;

/** Rejects unknown parameters: with a misspelled filter, the response would be the full list. Ignores empty names. */
export function refuseUnknownParameters(requestTarget: string, names: readonly string[]): void {
  const [, query = ''] = /\?([^#]*)/.exec(requestTarget) ?? [];
  for (const parameter of query.split('&')) {
    const [encodedName = ''] = parameter.split('=');
    const name = decodeUrlencoded(encodedName) ?? encodedName;
    if (name === '' || names.includes(name)) continue;
    const known =
      names.length === 0 ? 'This endpoint has no parameters.' : `This endpoint supports ${names.join(', ')}.`;
    throw invalid({ pointer: pointerTo([name.slice(0, maxNameLength)]), detail: `Unknown parameter. ${known}` });
  }
}

/**
 * The parameters with these names; others are ignored. Common parsers keep values that they cannot decode, and pick one
 * of several. Both would be guesses, so both are rejected.
 */
export function readQuery(requestTarget: string, names: readonly string[]): Readonly<Record<string, string>> {
  const [, query = ''] = /\?([^#]*)/.exec(requestTarget) ?? [];
  return readParameters(query, names);
}

export function readParameters(text: string, names: readonly string[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const parameter of text.split('&')) {
    const [encodedName = '', ...encodedValue] = parameter.split('=');
    const name = decodeUrlencoded(encodedName);
    if (name === undefined || !names.includes(name)) continue;
    const value = decodeUrlencoded(encodedValue.join('='));
    if (value === undefined) throw invalidParameter(name, 'It is not valid percent-encoded UTF-8.');
    if (values.has(name)) throw invalidParameter(name, 'It is given more than once.');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** Decodes a name or value of a form, where `+` is a space; undefined if it is not percent-encoded UTF-8. */
export function decodeUrlencoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const invalidParameter = (name: string, detail: string): Refusal => invalid({ pointer: `#/${name}`, detail });
