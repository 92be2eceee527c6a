import { createRandom, exponential, type Random } from './chance.ts';
import { createClients } from './client.ts';
import { countConnections } from './connections.ts';
import { createDistribution } from './distribution.ts';
import { type JobParts, type Locked, listStep, lockStep, postStep } from './job.ts';
import { createService, type ServiceCounts } from './service.ts';
import type { ServiceTimes } from './service-times.ts';
import { createVirtualTime } from './virtual-time.ts';
import { createPlanner, type Plan, placeOf, type Workload } from './workload.ts';

export interface SimulationOptions {
  readonly workload: Workload;
  readonly times: ServiceTimes;
  readonly seed: number;
  /** What is counted begins when as much time has passed as a job takes, or waits. */
  readonly minutes: number;
  /** Sees what the jobs believe to have, for tests: a lock from one moment until another at the latest. */
  readonly onHeld?: (held: {
    readonly path: string;
    readonly job: number;
    readonly at: number;
    readonly until: number;
  }) => void;
  readonly onLetGo?: (letGo: { readonly path: string; readonly job: number; readonly at: number }) => void;
}

/** How often a path is wanted: by its place in the order of all of them. */
export const classes = [
  { name: 'the ten that are wanted most', below: 10 },
  { name: 'the hundred', below: 100 },
  { name: 'the thousand', below: 1_000 },
  { name: 'all others', below: Number.POSITIVE_INFINITY },
] as const;

export interface Waits {
  readonly name: string;
  readonly steps: number;
  readonly gaveUp: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  readonly p99Seconds: number;
  readonly mostSeconds: number;
}

export interface HotPath {
  readonly place: number;
  readonly wanted: number;
  readonly acquired: number;
  readonly gaveUp: number;
  /** The part of the time in which somebody had it. */
  readonly held: number;
}

export interface Outcome {
  readonly jobs: number;
  readonly seconds: number;
  /** All lock steps from the first moment on: each is in exactly one of the others. */
  readonly steps: {
    readonly begun: number;
    readonly acquired: number;
    readonly gaveUp: number;
    readonly failed: number;
    readonly waiting: number;
  };
  /** From here on: of what ended after the first time. */
  readonly ended: number;
  readonly gaveUp: number;
  readonly failed: number;
  readonly meanWaitSeconds: number;
  readonly waits: readonly Waits[];
  readonly hottest: readonly HotPath[];
  readonly fairness: {
    /** Of those that had to wait at all and got their paths. */
    readonly medianSeconds: number;
    readonly longestSeconds: number;
    /** The part of them that was served before somebody who had waited for the same path for longer. */
    readonly overtaking: number;
  };
  readonly requestsPerSecond: number;
  readonly pollsShare: number;
  readonly rateLimitedShare: number;
  /** The part that one token for all would have had refused. */
  readonly oneTokenRefusedShare: number;
  readonly listedBytesPerSecond: number;
  readonly connections: number;
  /** The parts of the time in which the writer, and a thread, were at work. */
  readonly writerBusy: number;
  readonly threadBusy: number;
  readonly changesPerCommit: number;
  readonly answerMs: { readonly p50: number; readonly p99: number };
}

type Ending = 'acquired' | 'gave up' | 'failed';

function endingOf({ result: { round, lastConflict } }: Locked): Ending {
  switch (round.kind) {
    case 'acquired':
      return 'acquired';
    case 'held':
      return 'gave up';
    case 'failed':
      // The end of the wait cut off the last attempt.
      return lastConflict !== undefined && round.error.failure.kind === 'deadline' ? 'gave up' : 'failed';
    case 'too-short':
    case 'cancelled':
      return 'failed';
  }
}

const epoch = Date.UTC(2026, 0, 1);
const second = 1_000;
const minute = 60 * second;
const shownPaths = 5;

/** From one lock step of a job to the next, when nobody has to wait. */
const roundSeconds = ({ workSeconds, holdSeconds, holdSigma }: Workload): number =>
  workSeconds + holdSeconds * Math.exp(holdSigma ** 2 / 2);

const createWaits = () => ({ distribution: createDistribution(), steps: 0, gaveUp: 0 });
const createPathCount = () => ({ wanted: 0, acquired: 0, gaveUp: 0, heldMs: 0 });

/** What is noted from the moment on from which it counts. */
function createNotes() {
  return {
    answers: createDistribution(),
    waited: createDistribution(),
    all: createDistribution(),
    classes: classes.map(createWaits),
    paths: new Map<number, ReturnType<typeof createPathCount>>(),
    overtook: 0,
    ended: 0,
    gaveUp: 0,
    failed: 0,
  };
}

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  const { workload, times, seed, minutes, onHeld, onLetGo } = options;
  const time = createVirtualTime(epoch);
  const service = createService({ ...workload, time, times, random: createRandom(seed, 1) });
  const connections = countConnections(time.now);
  const clients = createClients(time);
  const plan = createPlanner(workload);
  const steps = { begun: 0, acquired: 0, gaveUp: 0, failed: 0 };
  /** Those that want a path and have not got it, in the order in which they came. */
  const wanting = new Map<string, Set<number>>();
  let notes = createNotes();
  let countedFrom = epoch;

  const pathCount = (place: number) => {
    const known = notes.paths.get(place) ?? createPathCount();
    notes.paths.set(place, known);
    return known;
  };

  function isOvertaking(job: number, { paths }: Plan): boolean {
    return paths.some((path) => {
      const [first] = wanting.get(path) ?? [];
      return first !== job;
    });
  }

  function want(job: number, { paths }: Plan): void {
    for (const path of paths) wanting.set(path, (wanting.get(path) ?? new Set()).add(job));
  }

  function wantNoMore(job: number, { paths }: Plan): void {
    for (const path of paths) {
      const jobs = wanting.get(path);
      jobs?.delete(job);
      if (jobs?.size === 0) wanting.delete(path);
    }
  }

  function note(ending: Ending, seconds: number, overtook: boolean, { paths, hottest }: Plan): void {
    notes.ended += 1;
    const index = classes.findIndex(({ below }) => hottest < below);
    const its = notes.classes[index];
    if (its === undefined) return;
    its.steps += 1;
    if (ending === 'gave up') {
      its.gaveUp += 1;
      notes.gaveUp += 1;
    }
    if (ending === 'failed') notes.failed += 1;
    if (ending === 'acquired') {
      its.distribution.add(seconds);
      notes.all.add(seconds);
      if (seconds >= 1) {
        notes.waited.add(seconds);
        if (overtook) notes.overtook += 1;
      }
    }
    for (const path of paths) {
      const place = placeOf(path);
      if (place >= shownPaths) continue;
      const count = pathCount(place);
      count.wanted += 1;
      if (ending === 'acquired') count.acquired += 1;
      else count.gaveUp += 1;
    }
  }

  function noteHeld({ paths }: Plan, from: number): void {
    for (const path of paths) {
      const place = placeOf(path);
      if (place < shownPaths) pathCount(place).heldMs += time.now() - Math.max(from, countedFrom);
    }
  }

  async function lockAndRelease(job: number, parts: JobParts, its: Plan): Promise<void> {
    const began = time.now();
    steps.begun += 1;
    want(job, its);
    const locked = await lockStep(parts, its);
    const ending = endingOf(locked);
    const overtook = ending === 'acquired' && isOvertaking(job, its);
    wantNoMore(job, its);
    if (ending === 'gave up') steps.gaveUp += 1;
    else steps[ending] += 1;
    note(ending, (time.now() - began) / second, overtook, its);
    const heldFrom = time.now();
    for (const { path, lock } of locked.grants) {
      onHeld?.({ path, job, at: heldFrom, until: Date.parse(lock.expires_at) });
    }
    if (ending === 'acquired') {
      if (its.vanishes) return;
      await time.sleep(its.holdMs);
      for (const { path } of locked.grants) onLetGo?.({ path, job, at: time.now() });
      noteHeld(its, heldFrom);
    }
    await postStep(parts, locked);
  }

  async function work(job: number, draws: Random): Promise<void> {
    const parts: JobParts = {
      time,
      service,
      clients,
      workload,
      connections: connections.ofAStep,
      random: createRandom(seed, 2, job),
      token: `token ${job % workload.tokens}`,
      onAnswer: (ms) => notes.answers.add(ms),
    };
    // As evenly as if all this had gone on for long.
    await time.sleep(draws() * roundSeconds(workload) * second);
    for (;;) {
      const its = plan(draws);
      if (its.lists) await listStep(parts);
      await lockAndRelease(job, parts, its);
      await time.sleep(exponential(draws, workload.workSeconds * second));
    }
  }

  for (let job = 0; job < workload.jobs; job += 1) void work(job, createRandom(seed, 3, job));
  await time.runUntil(epoch + Math.max(workload.waitSeconds, roundSeconds(workload)) * second);
  notes = createNotes();
  connections.forgetMost();
  countedFrom = time.now();
  const before: ServiceCounts = { ...service.counts };
  const end = countedFrom + minutes * minute;
  await time.runUntil(end);

  const seconds = (end - countedFrom) / second;
  const of = (name: keyof ServiceCounts): number => service.counts[name] - before[name];
  const requests = of('requests');
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
  return {
    jobs: workload.jobs,
    seconds,
    steps: { ...steps, waiting: new Set([...wanting.values()].flatMap((jobs) => [...jobs])).size },
    ended: notes.ended,
    gaveUp: notes.gaveUp,
    failed: notes.failed,
    meanWaitSeconds: notes.all.mean(),
    waits: notes.classes.map(({ distribution, steps: ended, gaveUp }, index) => ({
      name: classes[index]?.name ?? '',
      steps: ended,
      gaveUp,
      p50Seconds: distribution.percentile(50),
      p95Seconds: distribution.percentile(95),
      p99Seconds: distribution.percentile(99),
      mostSeconds: distribution.most(),
    })),
    hottest: [...notes.paths]
      .toSorted(([one], [other]) => one - other)
      .map(([place, { heldMs, ...counted }]) => ({ place, ...counted, held: heldMs / second / seconds })),
    fairness: {
      medianSeconds: notes.waited.percentile(50),
      longestSeconds: notes.waited.most(),
      overtaking: share(notes.overtook, notes.waited.count()),
    },
    requestsPerSecond: requests / seconds,
    pollsShare: share(of('polls'), requests),
    rateLimitedShare: share(of('rateLimited'), requests),
    oneTokenRefusedShare: share(of('rateLimitedOfOneToken'), requests),
    listedBytesPerSecond: of('listedBytes') / seconds,
    connections: connections.most(),
    writerBusy: of('writerMs') / second / seconds,
    threadBusy: of('threadMs') / second / seconds / workload.instances,
    changesPerCommit: share(of('changes'), of('groups')),
    answerMs: { p50: notes.answers.percentile(50), p99: notes.answers.percentile(99) },
  };
}
