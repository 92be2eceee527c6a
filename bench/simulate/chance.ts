import type { Random } from '../../test/support/seed.ts';

/** How numbers are spread that are drawn at random. */

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
