import fc from 'fast-check';
import { expect } from 'vitest';

type Limit = { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };

/** Fails if a figure misses its limit. The long tests print all of them. */
export function measured(name: string, value: number, limit: Limit, because: string | readonly string[] = []): void {
  const told = `${name}: ${value}, expected ${JSON.stringify(limit)}`;
  if (process.env['SOAK'] === '1') process.stdout.write(`${told}\n`);
  if (!keeps(value, limit)) expect.fail([told].concat(because).join('\n'));
}

/** NaN misses every limit. */
function keeps(value: number, limit: Limit): boolean {
  if ('atMost' in limit) return value <= limit.atMost;
  return 'atLeast' in limit ? value >= limit.atLeast : value === limit.exactly;
}

/** A counterexample of a property with the reason; empty if the property held. */
export async function failureOf<Given>(outcome: fc.RunDetails<Given>): Promise<readonly string[]> {
  if (!outcome.failed) return [];
  const { errorInstance } = outcome;
  const reason = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return [(await fc.asyncDefaultReportMessage(outcome)) ?? '', reason ?? ''];
}
