import fc from 'fast-check';

/** A seed that a run has printed, in the environment as SEED, plays the same again. */
export async function seeded<Given>(
  property: fc.IAsyncProperty<Given>,
  numRuns: number,
  seed: number = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
): Promise<void> {
  await fc.assert(property, { seed, numRuns });
}
