import { accepted, type Parsed } from '../../../interface/parsed.ts';

/** An error message for each invalid field. */
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

/** Parses a field that may be empty. Returns undefined if it is. */
export const optional = <Value>(text: string, parse: (text: string) => Parsed<Value>): Parsed<Value | undefined> =>
  text.trim() === '' ? accepted(undefined) : parse(text.trim());
