/** What parsing at a border gives: a value that cannot be wrong, or a sentence that says why there is none. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export const accepted = <T>(value: T): Parsed<T> => ({ ok: true, value });

export const refused = (reason: string): Parsed<never> => ({ ok: false, reason });
