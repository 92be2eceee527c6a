import type { Parsed } from '../../src/interface/parsed.ts';

/** The value of a text that must be valid. */
export function valueIn<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}
