import type { z } from '@hono/zod-openapi';
import type { FieldError } from '../../interface/problem.ts';
import { invalid } from './problem.ts';

const maxErrors = 20;

/** Parses a part of a request with its schema, or rejects the request with an error for each invalid field. */
export function parseRequestPart<Output>(schema: z.ZodType<Output> | undefined, read: () => unknown): Output {
  // Without a schema, the operation has no such part, as the type of its handler says.
  if (schema === undefined) return undefined as Output;
  const parsed = schema.safeParse(read(), { reportInput: true });
  if (parsed.success) return parsed.data;
  const errors = new Map<string, FieldError>();
  for (const issue of parsed.error.issues) {
    const pointer = pointerTo(issue.path);
    // Further errors of a field usually follow from the first one.
    if (!errors.has(pointer)) errors.set(pointer, { pointer, detail: errorMessage(issue) });
  }
  const [first = { pointer: '#', detail: 'It is not valid.' }, ...more] = errors.values();
  throw invalid(first, ...more.slice(0, maxErrors - 1));
}

/** Undefined if the text is not JSON, or not as the schema says. */
export function parseJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** RFC 6901 section 6: a JSON pointer as a URI fragment. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  `#${path.map((key) => `/${encodeSegment(key)}`).join('')}`;

/** A JSON key may contain a lone surrogate, which cannot be encoded. */
const encodeSegment = (key: PropertyKey): string =>
  encodeURIComponent(String(key).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));

function errorMessage(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'It is missing.' : `It must be of type ${issue.expected}.`;
    case 'invalid_value':
      return `It must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}.`;
    default:
      return issue.message;
  }
}
