/** The result of parsing untrusted input: a valid value, or a sentence with the reason why there is none. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export const accepted = <T>(value: T): Parsed<T> => ({ ok: true, value });

export const refused = (reason: string): Parsed<never> => ({ ok: false, reason });
