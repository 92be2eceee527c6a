/** Numbers from 0 to below 1, always the same for the same seed. */
export type Random = () => number;

/** The generator "Mulberry32". */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const once = Math.imul(state ^ (state >>> 15), state | 1);
    const twice = once ^ (once + Math.imul(once ^ (once >>> 7), once | 61));
    return ((twice ^ (twice >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of a varying test, from the environment or random. It is printed, so that a run can be repeated. */
export function printedSeed(what: string): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${what}: SEED=${seed} gives the same again.\n`);
  return seed;
}
