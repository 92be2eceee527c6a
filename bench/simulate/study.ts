import { spawnSync } from 'node:child_process';
import type { Results } from '../results.ts';
import { numberText } from '../table.ts';
import { calibrate, type Database, measurementsIn, predict } from './calibration.ts';
import type { ServiceTimes } from './service.ts';
import { type Outcome, simulate } from './simulation.ts';
import type { Workload } from './workload.ts';

/** Everything that is simulated in one run of the command. */

export interface StudyRequest {
  readonly workload: Workload;
  readonly seed: number;
  readonly minutes: number;
  readonly database: Database;
  /** Only the jobs that were asked for: no more and no fewer of them, and nothing else otherwise. */
  readonly alone: boolean;
}

export type Study = NonNullable<Awaited<ReturnType<typeof study>>>;

/** So many times the jobs that were asked for. */
const sweptFactors = [1 / 8, 1 / 4, 1 / 2, 2, 4];

/** What is asked of it piles up, and with more jobs there would be nothing to see but more of that. */
const isOverrun = ({ threadBusy, writerBusy }: Outcome): boolean => Math.max(threadBusy, writerBusy) > 0.98;

/** Where everybody wants the same few paths, it takes no long time to see what they do. */
const crowd = { paths: 100, zipf: 0, waitSeconds: 180 } as const;
const crowdMinutes = 3;

interface Variant {
  readonly name: string;
  readonly change: Partial<Workload>;
  readonly database?: Database;
  readonly minutes?: number;
}

const variants: readonly Variant[] = [
  { name: 'one token for all jobs', change: { tokens: 1 } },
  { name: 'every job reads the list of all locks first', change: { list: 1 } },
  { name: 'on PostgreSQL', change: {}, database: 'PostgreSQL' },
  { name: 'on PostgreSQL, three instances', change: { instances: 3 }, database: 'PostgreSQL' },
  { name: 'all want one of a hundred paths', change: crowd, minutes: crowdMinutes },
  { name: 'the same, with one token for all', change: { ...crowd, tokens: 1 }, minutes: crowdMinutes },
  {
    name: 'the same on PostgreSQL, three instances, a hundred tokens',
    change: { ...crowd, instances: 3 },
    database: 'PostgreSQL',
    minutes: crowdMinutes,
  },
];

/** How many files, and so connections, a process may have open: Node raises its own limit up to it. Infinity: any number. */
const openFiles = (): number =>
  Number(spawnSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).stdout?.trim() || 'Infinity');

/** Of 1 %, and of 80 %: beyond it, waiting in line takes most of the time of an answer. */
const few = 0.01;
const busy = 0.8;
const gigabitBytes = 1e9 / 8;

/** What can break as the load rises, and when it counts as broken. */
export interface LoadLimit {
  readonly name: string;
  readonly reachedWhen: string;
  /** How much of what is there is used: 1 is where it counts as reached. */
  readonly used: (outcome: Outcome) => number;
}

function loadLimits(files = openFiles()): readonly LoadLimit[] {
  const limit = (name: string, reachedWhen: string, used: LoadLimit['used']) => ({ name, reachedWhen, used });
  const all = [
    limit(
      'hot paths',
      '1 % of the jobs give up at the end of their `wait`',
      ({ gaveUp, ended }) => gaveUp / Math.max(1, ended) / few,
    ),
    limit(
      'the rate limit, with one token for all jobs',
      '1 % of the requests would be refused with 429',
      ({ oneTokenRefusedShare }) => oneTokenRefusedShare / few,
    ),
    limit(
      'the service itself: its thread or its writer',
      'it is at work for 80 % of the time',
      ({ threadBusy, writerBusy }) => Math.max(threadBusy, writerBusy) / busy,
    ),
    limit(
      'bandwidth of lists',
      'lists fill 80 % of a link of 1 Gbit/s',
      ({ listedBytesPerSecond }) => listedBytesPerSecond / gigabitBytes / busy,
    ),
    limit(
      'connections',
      `80 % of the ${numberText(files)} files that a process may open here`,
      ({ connections }) => connections / files / busy,
    ),
  ];
  return Number.isFinite(files) ? all : all.slice(0, -1);
}

/** In the order in which they break; what holds comes last, what is closest to breaking first of these. */
export function whatBreaks(limits: readonly LoadLimit[], sweep: readonly Outcome[]) {
  const rising = sweep.toSorted((one, other) => one.jobs - other.jobs);
  const last = rising.at(-1);
  return limits
    .map((limit) => ({
      limit,
      /** The fewest of all that were tried; undefined when it held for all of them. */
      jobs: rising.find((outcome) => limit.used(outcome) >= 1)?.jobs,
      /** With the most jobs. */
      used: last === undefined ? 0 : limit.used(last),
    }))
    .toSorted((one, other) => (one.jobs ?? 1e9) - (other.jobs ?? 1e9) || other.used - one.used);
}

async function measuredOn(results: Results, database: Database) {
  const measurements = measurementsIn(results, database);
  if (measurements === undefined) return [];
  const times = calibrate(measurements);
  return [{ database, measurements, times, predictions: await predict(times, measurements) }];
}

/** Undefined when the results do not tell how long the service takes on that database. */
export async function study(request: StudyRequest, results: Results, progress: (text: string) => void) {
  const { workload, seed, minutes, alone } = request;
  progress('the service under the loads that it was measured with');
  const databases = [...(await measuredOn(results, 'SQLite')), ...(await measuredOn(results, 'PostgreSQL'))];
  const timesOn = (wanted: Database): ServiceTimes | undefined =>
    databases.find(({ database }) => database === wanted)?.times;
  const times = timesOn(request.database);
  if (times === undefined) return undefined;

  progress(`${workload.jobs} jobs`);
  const outcome = await simulate({ workload, times, seed, minutes });
  const sweep = [outcome];
  const outcomes = [{ name: 'as above', outcome }];
  for (const factor of alone ? [] : sweptFactors) {
    const jobs = Math.round(workload.jobs * factor);
    if (sweep.some((other) => other.jobs < jobs && isOverrun(other))) break;
    progress(`${jobs} jobs`);
    sweep.push(await simulate({ workload: { ...workload, jobs }, times, seed, minutes }));
  }
  for (const { name, change, database = request.database, minutes: its = minutes } of alone ? [] : variants) {
    const itsTimes = timesOn(database);
    if (itsTimes === undefined) continue;
    progress(name);
    const changed = { workload: { ...workload, ...change }, times: itsTimes, seed, minutes: its };
    outcomes.push({ name, outcome: await simulate(changed) });
  }
  const { date, machine, loadBefore, loadAfter, quick } = results;
  return {
    request,
    measured: { date, machine, loadBefore, loadAfter, quick, databases },
    outcome,
    sweep: sweep.toSorted((one, other) => one.jobs - other.jobs),
    breaks: whatBreaks(loadLimits(), sweep),
    variants: outcomes,
  };
}
