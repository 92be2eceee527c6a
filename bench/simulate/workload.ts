import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';
import type { RateLimit } from '../../src/service/http/rate-limit.ts';
import { shippedRateLimit } from '../../test/support/shipped-settings.ts';
import { logNormal, type Random, zipf } from './chance.ts';

/** What the jobs do, and how often. */
export interface Workload {
  /** At the same time: where one ends, the next begins. */
  readonly jobs: number;
  /** That there are to be locked. */
  readonly paths: number;
  /** How much more often the first of them are wanted than the last: 0 is all alike. */
  readonly zipf: number;
  /** API tokens that the jobs share. */
  readonly tokens: number;
  /** On average, without any lock. */
  readonly workSeconds: number;
  /** Half of the jobs hold their locks for longer. */
  readonly holdSeconds: number;
  readonly holdSigma: number;
  /** `wait` and `ttl` of the lock step. */
  readonly waitSeconds: number;
  readonly ttlSeconds: number;
  /** Parts of all jobs: end without their post-step; read the list of all locks first. */
  readonly vanish: number;
  readonly list: number;
  readonly instances: number;
  readonly rateLimit: RateLimit;
}

/** As in action.yml. */
export const requestTimeoutMs = 30_000;
export const retries = 4;

export const usualWorkload: Workload = {
  jobs: 10_000,
  paths: 1_000_000,
  zipf: 0.5,
  tokens: 100,
  workSeconds: 600,
  holdSeconds: 120,
  holdSigma: 1,
  waitSeconds: 600,
  ttlSeconds: 3_600,
  vanish: 0.001,
  list: 0.1,
  instances: 1,
  rateLimit: shippedRateLimit,
};

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

function pathAt(place: number): LockPath {
  const path = parseLockPath(`Content/${String(place).padStart(7, '0')}.uasset`);
  if (!path.ok) throw new Error(path.why);
  return path.value;
}

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
