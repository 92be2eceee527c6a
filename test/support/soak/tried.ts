import fc from 'fast-check';
import { type FigureName, figureOf } from './figures.ts';
import { measured } from './measured.ts';

/** What a property did not hold for, and why; nothing when it held. */
export async function failureOf<Given>(outcome: fc.RunDetails<Given>): Promise<readonly string[]> {
  if (!outcome.failed) return [];
  const { errorInstance } = outcome;
  const reason = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return [(await fc.asyncDefaultReportMessage(outcome)) ?? '', reason ?? ''];
}

/** Tries a property as often as its figure asks for, and tells how often it held. */
export async function tried<Given>(
  name: FigureName,
  property: fc.IAsyncProperty<Given>,
  parameters: Omit<fc.Parameters<Given>, 'numRuns'> = {},
): Promise<void> {
  const outcome = await fc.check(property, { ...parameters, numRuns: figureOf(name).limit.value });
  measured(name, outcome.failed ? outcome.numRuns - 1 : outcome.numRuns, await failureOf(outcome));
}

/**
 * A seed that a run has printed, in the environment as SEED, plays the same again. A failure is told as it was found: to
 * look for a smaller one would take a soak test hours.
 */
export function triedFromSeed<Given>(name: FigureName, property: fc.IAsyncProperty<Given>): Promise<void> {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  return tried(name, property, { seed, endOnFailure: process.env['SOAK'] === '1' });
}
