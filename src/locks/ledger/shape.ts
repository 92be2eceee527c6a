import type { Parsed } from '../../interface/parsed.ts';

/** Whether a value from a file has the members of the shape. */
export const hasShape =
  <S extends Shape>(shape: S): Check<Members<S>> =>
  (value): value is Members<S> =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(shape).every(([name, check]) => check(Reflect.get(value, name)));

export type Check<T> = (value: unknown) => value is T;
export type Checked<C> = C extends Check<infer T> ? T : never;
/** A check for each member; others are allowed. */
export type Shape = Readonly<Record<string, Check<unknown>>>;
type Optional<S extends Shape> = { [Name in keyof S]: undefined extends Checked<S[Name]> ? Name : never }[keyof S];
export type Members<S extends Shape> = { readonly [Name in Exclude<keyof S, Optional<S>>]: Checked<S[Name]> } & {
  readonly [Name in Optional<S>]?: Checked<S[Name]>;
};

export const isString: Check<string> = (value) => typeof value === 'string';
export const isBoolean: Check<boolean> = (value) => typeof value === 'boolean';
export const isOptional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value);
export const isStringList: Check<readonly string[]> = (list) => Array.isArray(list) && list.every(isString);
export const isInteger: Check<number> = (value): value is number => Number.isSafeInteger(value);
/** Whether the text is valid as it is, without any correction. */
export const isValid =
  <T extends string>(parse: (text: string) => Parsed<T>): Check<T> =>
  (value): value is T => {
    const parsed = isString(value) ? parse(value) : undefined;
    return parsed?.ok === true && parsed.value === value;
  };
