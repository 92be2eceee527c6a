import { percentileOf } from '../statistics.ts';
import { createRandom, exponential, type Random } from './chance.ts';
import { createClients } from './client.ts';
import { type JobParts, type Locked, listStep, lockStep, postStep } from './job.ts';
import { createService, type ServiceCounts, type ServiceTimes } from './service.ts';
import { createVirtualTime } from './virtual-time.ts';
import { createPlanner, type Plan, placeOf, type Workload } from './workload.ts';

export interface SimulationOptions {
  readonly workload: Workload;
  readonly times: ServiceTimes;
  readonly seed: number;
  /** What is counted begins when as much time has passed as a job takes, or waits. */
  readonly minutes: number;
  /** Sees what the jobs believe to have, for tests: a lock from one moment until another at the latest. */
  readonly onHeld?: (held: Holding & { readonly until: number }) => void;
  readonly onLetGo?: (letGo: Holding) => void;
}

interface Holding {
  readonly path: string;
  readonly job: number;
  readonly at: number;
}

/** Jobs by the place of their path among all of them, in the order in which these are wanted. */
const classes = [
  { name: 'the ten that are wanted most', below: 10 },
  { name: 'the hundred', below: 100 },
  { name: 'the thousand', below: 1_000 },
  { name: 'all others', below: Number.POSITIVE_INFINITY },
];

type Ending = 'acquired' | 'gaveUp' | 'failed';

function endingOf({ result: { round, lastBlocked } }: Locked): Ending {
  switch (round.kind) {
    case 'acquired':
      return 'acquired';
    case 'held':
      return 'gaveUp';
    case 'failed':
      // The end of the wait cut off the last attempt.
      return lastBlocked !== undefined && round.error.failure.kind === 'deadline' ? 'gaveUp' : 'failed';
    case 'too-short':
    case 'cancelled':
      return 'failed';
  }
}

const epoch = Date.UTC(2026, 0, 1);
const second = 1_000;
const shownPaths = 5;

/** From one lock step of a job to the next, when nobody has to wait. */
const roundSeconds = ({ workSeconds, holdSeconds, holdSigma }: Workload): number =>
  workSeconds + holdSeconds * Math.exp(holdSigma ** 2 / 2);

/** What is noted from the moment on from which it counts. */
const createNotes = () => ({
  answersMs: [] as number[],
  classes: classes.map(({ name, below }) => ({ name, below, waits: [] as number[], steps: 0, gaveUp: 0 })),
  paths: Array.from({ length: shownPaths }, (_, place) => ({ place, wanted: 0, acquired: 0, gaveUp: 0, heldMs: 0 })),
  overtook: 0,
  ended: 0,
  gaveUp: 0,
  failed: 0,
});

export type Outcome = Awaited<ReturnType<typeof simulate>>;

export async function simulate({ workload, times, seed, minutes, onHeld, onLetGo }: SimulationOptions) {
  const time = createVirtualTime(epoch);
  const service = createService({ ...workload, time, times, random: createRandom(seed, 1) });
  const clients = createClients(time);
  const plan = createPlanner(workload);
  const steps = { begun: 0, acquired: 0, gaveUp: 0, failed: 0 };
  /** Those that want a path and have not got it, in the order in which they came. */
  const wanting = new Map<string, Set<number>>();
  let notes = createNotes();
  let countedFrom = epoch;

  function want(job: number, { paths }: Plan): void {
    for (const path of paths) wanting.set(path, (wanting.get(path) ?? new Set()).add(job));
  }

  /** Tells whether somebody else had wanted one of the paths for longer. */
  function wantNoMore(job: number, { paths }: Plan): boolean {
    let isFirst = true;
    for (const path of paths) {
      const jobs = wanting.get(path) ?? new Set();
      const [first] = jobs;
      isFirst &&= first === job;
      jobs.delete(job);
      if (jobs.size === 0) wanting.delete(path);
    }
    return !isFirst;
  }

  const shownIn = ({ paths }: Plan) => paths.flatMap((path) => notes.paths[placeOf(path)] ?? []);

  function noteEnd(ending: Ending, seconds: number, overtook: boolean, its: Plan): void {
    notes.ended += 1;
    if (ending !== 'acquired') notes[ending] += 1;
    const ofClass = notes.classes.find(({ below }) => its.hottest < below);
    if (ofClass !== undefined) {
      ofClass.steps += 1;
      if (ending === 'gaveUp') ofClass.gaveUp += 1;
      if (ending === 'acquired') ofClass.waits.push(seconds);
    }
    if (ending === 'acquired' && seconds >= 1 && overtook) notes.overtook += 1;
    for (const path of shownIn(its)) {
      path.wanted += 1;
      path[ending === 'acquired' ? 'acquired' : 'gaveUp'] += 1;
    }
  }

  async function lockAndRelease(job: number, parts: JobParts, its: Plan): Promise<void> {
    const began = time.now();
    steps.begun += 1;
    want(job, its);
    const locked = await lockStep(parts, its);
    const ending = endingOf(locked);
    steps[ending] += 1;
    noteEnd(ending, (time.now() - began) / second, wantNoMore(job, its), its);
    const heldFrom = time.now();
    for (const { path, lock } of locked.grants) {
      onHeld?.({ path, job, at: heldFrom, until: Date.parse(lock.expires_at) });
    }
    if (ending === 'acquired') {
      if (its.vanishes) return;
      await time.sleep(its.holdMs);
      for (const { path } of locked.grants) onLetGo?.({ path, job, at: time.now() });
      for (const path of shownIn(its)) path.heldMs += time.now() - Math.max(heldFrom, countedFrom);
    }
    await postStep(parts, locked);
  }

  async function work(job: number, draws: Random): Promise<void> {
    const parts: JobParts = {
      time,
      service,
      clients,
      workload,
      random: createRandom(seed, 2, job),
      token: `token ${job % workload.tokens}`,
      onAnswer: (ms) => notes.answersMs.push(ms),
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
  clients.resetMax();
  countedFrom = time.now();
  const before = { ...service.counts };
  const seconds = minutes * 60;
  await time.runUntil(countedFrom + seconds * second);

  const of = (name: keyof ServiceCounts): number => service.counts[name] - before[name];
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
  const { ended, gaveUp, failed, answersMs } = notes;
  const acquired = notes.classes.flatMap(({ waits }) => waits);
  const waited = acquired.filter((seconds) => seconds >= 1);
  return {
    jobs: workload.jobs,
    seconds,
    /** All lock steps from the first moment on: each is in exactly one of the others. */
    steps: { ...steps, waiting: new Set([...wanting.values()].flatMap((jobs) => [...jobs])).size },
    /** From here on: of what ended when it counted. */
    ended,
    gaveUp,
    failed,
    meanWaitSeconds: share(
      acquired.reduce((sum, one) => sum + one, 0),
      acquired.length,
    ),
    waits: notes.classes.map(({ name, waits, steps, gaveUp }) => ({
      name,
      steps,
      gaveUp,
      p50Seconds: percentileOf(waits, 50),
      p95Seconds: percentileOf(waits, 95),
      p99Seconds: percentileOf(waits, 99),
      maxSeconds: percentileOf(waits, 100),
    })),
    /** With the part of the time in which a job had the path. */
    hottest: notes.paths
      .filter(({ wanted, heldMs }) => wanted > 0 || heldMs > 0)
      .map(({ heldMs, ...counted }) => ({ ...counted, held: heldMs / second / seconds })),
    /** Of those that had to wait at all and got their paths. */
    fairness: {
      medianSeconds: percentileOf(waited, 50),
      maxSeconds: percentileOf(waited, 100),
      /** The part of them that was served before somebody who had waited for the same path for longer. */
      overtaking: share(notes.overtook, waited.length),
    },
    requestsPerSecond: of('requests') / seconds,
    pollsShare: share(of('polls'), of('requests')),
    rateLimitedShare: share(of('rateLimited'), of('requests')),
    /** The part that one token for all would have had refused. */
    oneTokenRefusedShare: share(of('rateLimitedOfOneToken'), of('requests')),
    listedBytesPerSecond: of('listedBytes') / seconds,
    connections: clients.maxConnections(),
    /** The parts of the time in which the writer, and a thread, were at work. */
    writerBusy: of('writerMs') / second / seconds,
    threadBusy: of('threadMs') / second / seconds / workload.instances,
    changesPerCommit: share(of('changes'), of('groups')),
    answerMs: { p50: percentileOf(answersMs, 50), p99: percentileOf(answersMs, 99) },
  };
}
