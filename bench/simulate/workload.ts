import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import type { Random } from '../../test/support/seed.ts';
import { shippedRateLimit } from '../../test/support/shipped-settings.ts';

/** As in action.yml. */
export const requestTimeoutMs = 30_000;
export const retries = 4;

/** What the jobs do, and how often. */
export const usualWorkload = {
  /** At the same time: where one ends, the next begins. */
  jobs: 10_000,
  /** That there are to be locked. */
  paths: 1_000_000,
  /** How much more often the first of them are wanted than the last: 0 is all alike. */
  zipf: 0.5,
  /** API tokens that the jobs share. */
  tokens: 100,
  /** On average, without any lock. */
  workSeconds: 600,
  /** Half of the jobs hold their locks for longer. */
  holdSeconds: 120,
  holdSigma: 1,
  /** `wait` and `ttl` of the lock step. */
  waitSeconds: 600,
  ttlSeconds: 3_600,
  /** Parts of all jobs: end without their post-step; read the list of all locks first. */
  vanish: 0.001,
  list: 0.1,
  instances: 1,
  rateLimit: shippedRateLimit,
};
export type Workload = Readonly<typeof usualWorkload>;

/** Of what cannot be wrong. */
export function valueIn<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

export const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random());

/** By Box and Muller. */
export function logNormal(random: Random, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * normal);
}

/** Gives places from 0: the one at `place` is asked for in proportion to 1 / (place + 1) ^ exponent. */
function zipf(count: number, exponent: number): (random: Random) => number {
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

/** How many paths a step locks: mostly one, some a few, and now and then a folder. */
function drawSize(random: Random): number {
  const kind = random();
  if (kind < 0.6) return 1;
  if (kind < 0.9) return 2 + Math.floor(random() * 4);
  return 6 + Math.floor(random() * 15);
}

export interface Plan {
  readonly paths: readonly LockPath[];
  /** The place of the one that is wanted most, from 0. */
  readonly hottest: number;
  readonly holdMs: number;
  readonly vanishes: boolean;
  readonly lists: boolean;
}

const pathAt = (place: number): LockPath => valueIn(parseLockPath(`Content/${String(place).padStart(7, '0')}.uasset`));

/** The place of a path, by its name. */
export const placeOf = (path: string): number => Number(/\d+/.exec(path)?.[0]);

export function createPlanner(workload: Workload): (random: Random) => Plan {
  const draw = zipf(workload.paths, workload.zipf);
  return (random) => {
    const size = Math.min(drawSize(random), workload.paths);
    const places = new Set<number>();
    while (places.size < size) places.add(draw(random));
    return {
      paths: [...places].map(pathAt),
      hottest: Math.min(...places),
      holdMs: logNormal(random, workload.holdSeconds, workload.holdSigma) * 1_000,
      vanishes: random() < workload.vanish,
      lists: random() < workload.list,
    };
  };
}
