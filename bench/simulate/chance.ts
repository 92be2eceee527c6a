/** Numbers that look random, and are the same for the same seed. */
export type Random = () => number;

/** The generator "sfc32" of PractRand, which passes its tests and is quick. */
export function createRandom(...seeds: readonly number[]): Random {
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
  // Seeds that are alike give numbers that are alike in the first rounds.
  for (let round = 0; round < 15; round += 1) next();
  return next;
}

export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random());

/** By Box and Muller. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * normal);
}

/** Gives places from 0: the one at `place` is asked for in proportion to 1 / (place + 1) ^ exponent. */
export function zipf(count: number, exponent: number): (random: Random) => number {
  const upTo = new Float64Array(count);
  let sum = 0;
  for (let place = 0; place < count; place += 1) {
    sum += (place + 1) ** -exponent;
    upTo[place] = sum;
  }
  return (random) => {
    const wanted = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
