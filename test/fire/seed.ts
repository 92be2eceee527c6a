import fc from 'fast-check';

/**
 * A seed that a run has printed, in the environment as SEED, plays the same again. A failure is told as it was found: to
 * look for a smaller one would take a soak test hours.
 */
export async function seeded<Given>(
  property: fc.IAsyncProperty<Given>,
  numRuns: number,
  seed: number = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
): Promise<void> {
  await fc.assert(property, { seed, numRuns, endOnFailure: process.env['SOAK'] === '1' });
}
