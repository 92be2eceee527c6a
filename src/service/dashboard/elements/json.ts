import type { Markup } from './markup.ts';
import { verbatim } from './verbatim.ts';

/** A value as JSON, member by member. */
export const json = (value: unknown): Markup => verbatim(JSON.stringify(value, null, 2));
