import type { Figure } from '../benchmark.ts';
import { pageBytesName, pageName, pageSize, pollsName } from '../polls.ts';
import { figuresOf, type Results } from '../results.ts';
import { ceilingName, takenName } from '../service.ts';
import { percentileOf } from '../statistics.ts';
import { createRandom } from './chance.ts';
import { type Asked, createService, type ServiceTimes } from './service.ts';
import { createVirtualTime } from './virtual-time.ts';

/** The times of the simulated service: read from what `npm run bench` has measured, and held against it. */

export type Database = 'SQLite' | 'PostgreSQL';

/** `nothing`: the route of locks without a database; `poll`: a path that somebody holds; `take`: one that nobody does. */
export const kinds = ['nothing', 'poll', 'take'] as const;
export type Kind = (typeof kinds)[number];

/** The model is made of the first and the last, and has to predict the one in between. */
export const clientCounts = [1, 32, 256] as const;

export interface Load {
  readonly kind: Kind;
  readonly clients: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What was measured of a real service on one database. */
export interface Measurements {
  readonly loads: readonly Load[];
  /** One page of a list of locks, with nobody else there. */
  readonly page: { readonly ms: number; readonly locks: number; readonly bytes: number };
}

const figureName: Readonly<Record<Kind, (database: Database, clients: number) => string>> = {
  nothing: (_, clients) => ceilingName(clients),
  poll: pollsName,
  take: takenName,
};

function percentile(figure: Figure | undefined, percent: number): number | undefined {
  const distribution = figure?.details?.find((detail) => detail.kind === 'distribution');
  return new Map(distribution?.percentiles).get(percent);
}

/** Undefined when the last run has not measured all of it. */
export function measurementsIn(results: Results, database: Database): Measurements | undefined {
  const figures = new Map(results.benchmarks.flatMap(figuresOf).map((figure) => [figure.name, figure]));
  const loads: Load[] = [];
  for (const kind of kinds) {
    for (const clients of clientCounts) {
      const figure = figures.get(figureName[kind](database, clients));
      const [p50Ms, p99Ms] = [percentile(figure, 50), percentile(figure, 99)];
      if (figure === undefined || p50Ms === undefined || p99Ms === undefined) return undefined;
      loads.push({ kind, clients, perSecond: figure.value, p50Ms, p99Ms });
    }
  }
  const [ms, kilobytes] = [pageName(database), pageBytesName(database)].map((name) => figures.get(name)?.value);
  if (ms === undefined || kilobytes === undefined) return undefined;
  return { loads, page: { ms, locks: pageSize, bytes: kilobytes * 1_000 } };
}

/** Of a normal distribution, how far its 99th percentile is above its median. */
const sigmasOfP99 = 2.326;

/** Far beyond what a disk does: a p99 that is worse is that of a machine with other work. */
const maxFlushSigma = 1.5;

/**
 * One client alone pays for the whole of a group, and of many each pays its part. So one measurement tells what a group
 * costs, and the other what comes with each request. What a release costs is not measured: it counts as a path taken.
 */
export function calibrate({ loads, page }: Measurements): ServiceTimes {
  const load = (kind: Kind, clients: number): Load => {
    const found = loads.find((each) => each.kind === kind && each.clients === clients);
    if (found === undefined) throw new Error(`There is no measurement of "${kind}" with ${clients} clients.`);
    return found;
  };
  const crowded = (kind: Kind): number => 1_000 / load(kind, clientCounts[2]).perSecond;
  const alone = (kind: Kind): Load => load(kind, clientCounts[0]);
  const above = (ms: number, floor = 0): number => Math.max(floor, ms);

  const requestMs = crowded('nothing');
  const wireMs = above(alone('nothing').p50Ms - requestMs);
  const pollMs = crowded('poll');
  const groupMs = above(alone('poll').p50Ms - pollMs - wireMs);
  const takeMs = crowded('take');
  const before = takeMs + groupMs + wireMs;
  const medianMs = above(alone('take').p50Ms - before, 0.01);
  const p99Ms = above(alone('take').p99Ms - before, medianMs);
  return {
    requestMs,
    refuseMs: above(pollMs - requestMs),
    writeMs: above(takeMs - requestMs),
    groupMs,
    flush: { medianMs, sigma: Math.min(maxFlushSigma, Math.log(p99Ms / medianMs) / sigmasOfP99) },
    listedMs: above(page.ms - wireMs - requestMs) / page.locks,
    listedBytes: page.bytes / page.locks,
    wireMs,
  };
}

const predictedSeconds = 5;

const askedFor = (kind: Kind, number: number): Asked =>
  kind === 'nothing'
    ? { kind: 'page', locks: 0 }
    : { kind: 'take', path: kind === 'poll' ? 'held' : String(number), key: String(number), ttlMs: 3_600_000 };

/** The simulated service under the load that the real one was measured with. */
async function underLoad(times: ServiceTimes, kind: Kind, clients: number) {
  const time = createVirtualTime(0);
  // The real one was measured with it off, too.
  const service = createService({ time, times, random: createRandom(1), instances: 1, rateLimit: null });
  const latencies: number[] = [];
  let asked = 0;
  function ask(): void {
    asked += 1;
    const at = time.now();
    service.send(askedFor(kind, asked), 'token', () => {
      latencies.push(time.now() - at);
      ask();
    });
  }
  if (kind === 'poll') service.send(askedFor(kind, 0), 'token', () => undefined);
  for (let client = 0; client < clients; client += 1) ask();
  await time.runUntil(predictedSeconds * 1_000);
  return { perSecond: latencies.length / predictedSeconds, p50Ms: percentileOf(latencies, 50) };
}

export type Prediction = Load & { readonly predicted: Pick<Load, 'perSecond' | 'p50Ms'> };

export async function predict(times: ServiceTimes, { loads }: Measurements): Promise<readonly Prediction[]> {
  const predict = async (load: Load) => ({ ...load, predicted: await underLoad(times, load.kind, load.clients) });
  return Promise.all(loads.map(predict));
}
