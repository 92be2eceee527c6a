/** Each value with a name that is short enough for the title of a test. */
export const named = <T>(...values: readonly T[]): [name: string, value: T][] =>
  values.map((value) => [JSON.stringify(value).slice(0, 60), value]);
