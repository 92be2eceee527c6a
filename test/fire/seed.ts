import type fc from 'fast-check';
import type { FigureName } from '../support/soak/figures.ts';
import { tried } from '../support/soak/tried.ts';

/**
 * A seed that a run has printed, in the environment as SEED, plays the same again. A failure is told as it was found: to
 * look for a smaller one would take a soak test hours.
 */
export async function seeded<Given>(
  name: FigureName,
  property: fc.IAsyncProperty<Given>,
  seed: number = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
): Promise<void> {
  await tried(name, property, { seed, endOnFailure: process.env['SOAK'] === '1' });
}
