import fc from 'fast-check';
import { type FigureName, figureOf } from './figures.ts';
import { measured } from './measured.ts';

/** A counterexample of a property with the reason; empty if the property held. */
export async function failureOf<Given>(outcome: fc.RunDetails<Given>): Promise<readonly string[]> {
  if (!outcome.failed) return [];
  const { errorInstance } = outcome;
  const reason = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return [(await fc.asyncDefaultReportMessage(outcome)) ?? '', reason ?? ''];
}

/** Tries a property the number of times in its figure, and records how often it held. */
export async function tried<Given>(
  name: FigureName,
  property: fc.IAsyncProperty<Given>,
  parameters: Omit<fc.Parameters<Given>, 'numRuns'> = {},
): Promise<void> {
  const outcome = await fc.check(property, { ...parameters, numRuns: figureOf(name).limit.value });
  measured(name, outcome.failed ? outcome.numRuns - 1 : outcome.numRuns, await failureOf(outcome));
}

/**
 * Tries a property with the seed in SEED, if set, which repeats a run that printed it. A failure is reported as found:
 * shrinking it would take a soak test hours.
 */
export function triedFromSeed<Given>(name: FigureName, property: fc.IAsyncProperty<Given>): Promise<void> {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  return tried(name, property, { seed, endOnFailure: process.env['SOAK'] === '1' });
}
