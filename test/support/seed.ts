/** Numbers from 0 to below 1, always the same for a seed. */
export type Random = () => number;

/** The generator "mulberry32": good enough to vary a test, and short. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of a test that varies: of the environment, or another in every run. It is printed, so that it can be given again. */
export function printedSeed(what: string): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${what}: SEED=${seed} gives the same again.\n`);
  return seed;
}
