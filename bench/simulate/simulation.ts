import type { Grant } from '../../src/action/ledger/entry.ts';
import type { AcquireLocksResult } from '../../src/action/locks/acquire.ts';
import { type Random, randomOf } from '../../test/support/seed.ts';
import { createVirtualTime } from '../../test/support/virtual-time.ts';
import { percentileOf, percentilesOf, sumOf } from '../statistics.ts';
import { createService, type ServiceCounts, type ServiceTimes } from './service.ts';
import { createClients, createSteps, grantsOf, type Job } from './steps.ts';
import { createPlanner, exponential, type Plan, placeOf, type Workload } from './workload.ts';

export interface SimulationOptions {
  readonly workload: Workload;
  readonly times: ServiceTimes;
  readonly seed: number;
  /** What is counted begins when as much time has passed as a job takes, or waits. */
  readonly minutes: number;
}

/** A lock step that has ended. */
export interface EndedStep extends Plan {
  readonly job: number;
  readonly ending: 'acquired' | 'gaveUp' | 'failed';
  readonly at: number;
  /** How long it took. */
  readonly seconds: number;
  /** Somebody else had wanted one of its paths for longer. */
  readonly overtook: boolean;
  readonly grants: readonly Grant[];
  /** Until the job let go of its locks; undefined while it has them, and of one that vanished. */
  heldUntil?: number;
}

const epoch = Date.UTC(2026, 0, 1);
const second = 1_000;
const shownPlaces = [0, 1, 2, 3, 4];

function endingOf({ round, lastBlocked }: AcquireLocksResult): EndedStep['ending'] {
  if (round.kind === 'acquired') return 'acquired';
  // The end of the wait may cut off the last attempt.
  const isCutOff = round.kind === 'failed' && round.error.failure.kind === 'deadline' && lastBlocked !== undefined;
  return round.kind === 'held' || isCutOff ? 'gaveUp' : 'failed';
}

/** Those that want a path and have not got it, in the order in which they came. */
function createQueues() {
  const queues = new Map<string, Set<number>>();
  return {
    enter(job: number, { paths }: Plan): void {
      for (const path of paths) queues.set(path, (queues.get(path) ?? new Set()).add(job));
    },
    /** Tells whether somebody else had wanted one of the paths for longer. */
    leave(job: number, { paths }: Plan): boolean {
      const overtaken = paths.filter((path) => queues.get(path)?.values().next().value !== job);
      for (const path of paths) queues.get(path)?.delete(job);
      return overtaken.length > 0;
    },
    /** The number of jobs in all of them. */
    size: () => new Set([...queues.values()].flatMap((jobs) => [...jobs])).size,
  };
}

/** From one lock step of a job to the next, when nobody has to wait. */
const roundSeconds = ({ workSeconds, holdSeconds, holdSigma }: Workload): number =>
  workSeconds + holdSeconds * Math.exp(holdSigma ** 2 / 2);

/** Lets all jobs do their work for the time; gives each lock step from the first moment on, and what counts. */
export async function runJobs({ workload, times, seed, minutes }: SimulationOptions) {
  const time = createVirtualTime(epoch);
  const service = createService({ ...workload, time, times, random: randomOf(seed, 1) });
  const clients = createClients(time, service);
  const steps = createSteps({ ...time, open: clients.open, workload });
  const plan = createPlanner(workload);
  const queues = createQueues();
  const ended: EndedStep[] = [];
  let begun = 0;
  let answersMs: number[] = [];

  async function lockAndRelease(number: number, job: Job, its: Plan): Promise<void> {
    const began = time.now();
    begun += 1;
    queues.enter(number, its);
    const locked = await steps.lock(job, its);
    const at = time.now();
    const [ending, overtook] = [endingOf(locked), queues.leave(number, its)];
    const grants = grantsOf(locked);
    const step: EndedStep = { ...its, job: number, ending, at, seconds: (at - began) / second, overtook, grants };
    ended.push(step);
    if (ending === 'acquired') {
      if (its.vanishes) return;
      await time.sleep(its.holdMs);
      step.heldUntil = time.now();
    }
    await steps.release(job, locked);
  }

  async function work(number: number, draws: Random): Promise<void> {
    const job: Job = {
      random: randomOf(seed, 2, number),
      token: `token ${number % workload.tokens}`,
      onResponse: (ms) => answersMs.push(ms),
    };
    // As evenly as if all this had gone on for long.
    await time.sleep(draws() * roundSeconds(workload) * second);
    for (;;) {
      const its = plan(draws);
      if (its.lists) await steps.list(job, service.lockCount());
      await lockAndRelease(number, job, its);
      await time.sleep(exponential(draws, workload.workSeconds * second));
    }
  }

  for (let number = 0; number < workload.jobs; number += 1) void work(number, randomOf(seed, 3, number));
  await time.runUntil(epoch + Math.max(workload.waitSeconds, roundSeconds(workload)) * second);
  const countedFrom = time.now();
  const uncounted = ended.length;
  const before = { ...service.counts };
  answersMs = [];
  clients.resetMax();
  await time.runUntil(countedFrom + minutes * 60 * second);
  return {
    ...{ workload, seconds: minutes * 60, ended, begun, answersMs, countedFrom },
    counted: ended.slice(uncounted),
    waiting: queues.size(),
    connections: clients.maxConnections(),
    counts: (name: keyof ServiceCounts): number => service.counts[name] - before[name],
  };
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** Jobs by the place of their path among all of them, in the order in which these are wanted. */
const classes = [
  { name: 'the ten that are wanted most', from: 0, below: 10 },
  { name: 'the hundred', from: 10, below: 100 },
  { name: 'the thousand', from: 100, below: 1_000 },
  { name: 'all others', from: 1_000, below: Number.POSITIVE_INFINITY },
];

export type Outcome = ReturnType<typeof outcomeOf>;

/** The figures of those steps that ended when it counted. */
export function outcomeOf(run: Awaited<ReturnType<typeof runJobs>>) {
  const { workload, seconds, ended, counted, countedFrom, counts, answersMs } = run;
  const acquired = counted.filter(({ ending }) => ending === 'acquired');
  const gaveUp = counted.filter(({ ending }) => ending === 'gaveUp');
  const secondsOf = (steps: readonly EndedStep[]): readonly number[] => steps.map((step) => step.seconds);
  const hadToWait = acquired.filter((step) => step.seconds >= 1);

  function waitsOf({ name, from, below }: (typeof classes)[number]) {
    const isIn = ({ hottest }: Plan): boolean => from <= hottest && hottest < below;
    return {
      name,
      steps: counted.filter(isIn).length,
      gaveUp: gaveUp.filter(isIn).length,
      within: percentilesOf(secondsOf(acquired.filter(isIn)), [50, 95, 99, 100]).map(([, value]) => value),
    };
  }

  function pathAt(place: number) {
    const isOf = ({ paths }: Plan): boolean => paths.some((path) => placeOf(path) === place);
    const wanted = counted.filter(isOf).length;
    const got = acquired.filter(isOf).length;
    const heldFor = ({ at, heldUntil = 0 }: EndedStep): number => Math.max(0, heldUntil - Math.max(at, countedFrom));
    const heldMs = ended.filter(isOf).map(heldFor);
    // The part of the time in which a job had the path.
    return { place, wanted, acquired: got, gaveUp: wanted - got, held: sumOf(heldMs) / second / seconds };
  }

  return {
    jobs: workload.jobs,
    seconds,
    ended: counted.length,
    gaveUp: gaveUp.length,
    failed: counted.length - acquired.length - gaveUp.length,
    meanWaitSeconds: share(sumOf(secondsOf(acquired)), acquired.length),
    waits: classes.map(waitsOf),
    hottest: shownPlaces.map(pathAt).filter(({ wanted, held }) => wanted > 0 || held > 0),
    /** Of those that had to wait at all and got their paths. */
    fairness: {
      medianSeconds: percentileOf(secondsOf(hadToWait), 50),
      maxSeconds: percentileOf(secondsOf(hadToWait), 100),
      /** The part of them that was served before somebody who had waited for the same path for longer. */
      overtaking: share(hadToWait.filter(({ overtook }) => overtook).length, hadToWait.length),
    },
    requestsPerSecond: counts('requests') / seconds,
    pollsShare: share(counts('polls'), counts('requests')),
    rateLimitedShare: share(counts('rateLimited'), counts('requests')),
    /** The part that one token for all would have had refused. */
    oneTokenRefusedShare: share(counts('rateLimitedOfOneToken'), counts('requests')),
    listedBytesPerSecond: counts('listedBytes') / seconds,
    connections: run.connections,
    /** The parts of the time in which the writer, and a thread, were at work. */
    writerBusy: counts('writerMs') / second / seconds,
    threadBusy: counts('threadMs') / second / seconds / workload.instances,
    changesPerCommit: share(counts('changes'), counts('groups')),
    answersP99Ms: percentileOf(answersMs, 99),
  };
}

export const simulate = async (options: SimulationOptions): Promise<Outcome> => outcomeOf(await runJobs(options));
