import { randomOf } from '../../test/support/seed.ts';
import { createVirtualTime } from '../../test/support/virtual-time.ts';
import { figuresOf, type Results } from '../results.ts';
import { ceilingName, clientCounts, takenName } from '../service.ts';
import { percentileOf } from '../statistics.ts';
import { pageBytesName, pageName, pageSize, pollsName } from '../waiting.ts';
import { type Asked, createService, type ServiceTimes } from './service.ts';

/** The times of the simulated service: read from what `npm run bench` has measured, and held against it. */

export type Database = 'SQLite' | 'PostgreSQL';

/** `nothing`: the route of locks without a database; `poll`: a path that somebody holds; `take`: one that nobody does. */
const figureNames = {
  nothing: (_: Database, clients: number) => ceilingName(clients),
  poll: pollsName,
  take: takenName,
} as const;
export type Kind = keyof typeof figureNames;

/** What a real service does for so many clients. */
type Load = Measurements['nothing']['few'];

/** Of a real service on one database. The model is made of the loads of few and many clients, and has to predict those of some. */
type Measurements = NonNullable<ReturnType<typeof measurementsIn>>;

/** Undefined when the last run has not measured all of it. */
export function measurementsIn(results: Results, database: Database) {
  const figures = new Map(results.benchmarks.flatMap(figuresOf).map((figure) => [figure.name, figure]));
  function loadIn(kind: Kind, clients: number) {
    const figure = figures.get(figureNames[kind](database, clients));
    const distribution = figure?.details?.find((detail) => detail.kind === 'distribution');
    const percentiles = new Map(distribution?.percentiles);
    const [p50Ms, p99Ms] = [percentiles.get(50), percentiles.get(99)];
    if (figure === undefined || p50Ms === undefined || p99Ms === undefined) return undefined;
    return { kind, clients, perSecond: figure.value, p50Ms, p99Ms };
  }
  const loads = (kind: Kind) => {
    const [few, some, many] = clientCounts.map((clients) => loadIn(kind, clients));
    return few && some && many && { few, some, many };
  };
  const [nothing, poll, take] = [loads('nothing'), loads('poll'), loads('take')];
  const [ms, kilobytes] = [pageName(database), pageBytesName(database)].map((name) => figures.get(name)?.value);
  if (nothing === undefined || poll === undefined || take === undefined) return undefined;
  if (ms === undefined || kilobytes === undefined) return undefined;
  // One page of a list of locks, with nobody else there.
  return { nothing, poll, take, page: { ms, locks: pageSize, bytes: kilobytes * 1_000 } };
}

/** Of a normal distribution, how far its 99th percentile is above its median. */
const sigmasOfP99 = 2.326;

/** Far beyond what a disk does: a p99 that is worse is that of a machine with other work. */
const maxFlushSigma = 1.5;

/**
 * One client alone pays for the whole of a group, and of many each pays its part. So one measurement tells what a group
 * costs, and the other what comes with each request. What a release costs is not measured: it counts as a path taken.
 */
export function calibrate({ nothing, poll, take, page }: Measurements): ServiceTimes {
  const crowded = ({ many }: { readonly many: Load }): number => 1_000 / many.perSecond;
  const above = (ms: number, floor = 0): number => Math.max(floor, ms);

  const requestMs = crowded(nothing);
  const wireMs = above(nothing.few.p50Ms - requestMs);
  const pollMs = crowded(poll);
  const groupMs = above(poll.few.p50Ms - pollMs - wireMs);
  const takeMs = crowded(take);
  const before = takeMs + groupMs + wireMs;
  const medianMs = above(take.few.p50Ms - before, 0.01);
  const p99Ms = above(take.few.p99Ms - before, medianMs);
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
  const service = createService({ time, times, random: randomOf(1), instances: 1, rateLimit: null });
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

export function predict(times: ServiceTimes, { nothing, poll, take }: Measurements): Promise<readonly Prediction[]> {
  const loads = [nothing, poll, take].flatMap(({ few, some, many }) => [few, some, many]);
  const predicted = async (load: Load) => ({ ...load, predicted: await underLoad(times, load.kind, load.clients) });
  return Promise.all(loads.map(predicted));
}
