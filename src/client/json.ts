import { accepted, type Parsed, refused } from '../interface/parsed.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

class TooDeep extends Error {}

/** Parses untrusted JSON. `onText` replaces each string in it. */
export function parseJson(text: string, onText = (each: string): string => each): Parsed<Json> {
  try {
    return accepted(copy(JSON.parse(text), onText, 0));
  } catch (error) {
    return refused(error instanceof TooDeep ? 'it is nested too deeply' : 'it is not valid JSON');
  }
}

export const asObject = (json: Json | undefined): JsonObject => (isObject(json) ? json : {});

export const asArray = (json: Json | undefined): readonly Json[] => (isArray(json) ? json : []);

/** The first of these members that is a name or an id. */
export const firstName = (object: JsonObject, ...members: readonly string[]): string | undefined =>
  members.map((member) => nameIn(object[member])).find((name) => name !== undefined);

/** All strings in the value. */
export const textsIn = (json: Json | undefined): readonly string[] =>
  typeof json === 'string' ? [json] : Object.values(isArray(json) || isObject(json) ? json : {}).flatMap(textsIn);

export const isArray = (json: Json | undefined): json is readonly Json[] => Array.isArray(json);

export const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** A name or an id: a string, or a number that JSON represents exactly. */
export function nameIn(json: Json | undefined): string | undefined {
  if (typeof json === 'string') return json === '' ? undefined : json;
  return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : undefined;
}

/** Deeper JSON must be an attempt to exhaust the stack of its reader. */
const maxDepth = 64;

function copy(value: unknown, onText: (text: string) => string, depth: number): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return onText(value);
  if (depth === maxDepth) throw new TooDeep();
  if (Array.isArray(value)) return value.map((item) => copy(item, onText, depth + 1));
  return Object.fromEntries(
    // JSON.parse returns no other types.
    Object.entries(Object(value)).map(([name, member]) => [onText(name), copy(member, onText, depth + 1)]),
  );
}
