/** Numbers from 0 to below 1, always the same for the same seeds. */
export type Random = () => number;

/** The generator "sfc32" of PractRand, which passes its tests and is fast. */
export function randomOf(...seeds: readonly number[]): Random {
  let [a = 0, b = 0, c = 0] = seeds.map((seed) => seed | 0);
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  // Similar seeds result in similar numbers in the first rounds.
  for (let round = 0; round < 15; round += 1) next();
  return next;
}

/** The seed of a varying test, from the environment or random. It is printed, so that a run can be repeated. */
export function printedSeed(what: string): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${what}: SEED=${seed} gives the same again.\n`);
  return seed;
}
