import { spawnSync } from 'node:child_process';
import type { Results } from '../results.ts';
import { numberText } from '../table.ts';
import { calibrate, type Database, measurementsIn, predict } from './calibration.ts';
import { type Outcome, type SimulationOptions, simulate } from './simulation.ts';
import type { Workload } from './workload.ts';

/** Everything that is simulated in one run of the command. */

export interface StudyRequest extends Omit<SimulationOptions, 'times'> {
  /** Only the jobs that were asked for: no more and no fewer of them, and nothing else otherwise. */
  readonly alone: boolean;
}

export type Study = Exclude<Awaited<ReturnType<typeof study>>, string>;

/** So many times the jobs that were asked for. */
const sweptFactors = [1 / 8, 1 / 4, 1 / 2, 2, 4];

/** What is asked of it piles up, and with more jobs there would be nothing to see but more of that. */
const isOverrun = ({ threadBusy, writerBusy }: Outcome): boolean => Math.max(threadBusy, writerBusy) > 0.98;

/** Where everybody wants the same few paths, it takes no long time to see what they do. */
const crowd = { paths: 100, zipf: 0, waitSeconds: 180 } as const;
const crowdMinutes = 3;

const variants: readonly (readonly [name: string, database: Database, change: Partial<Workload>])[] = [
  ['one token for all jobs', 'SQLite', { tokens: 1 }],
  ['every job reads the list of all locks first', 'SQLite', { list: 1 }],
  ['on PostgreSQL', 'PostgreSQL', {}],
  ['on PostgreSQL, three instances', 'PostgreSQL', { instances: 3 }],
  ['all want one of a hundred paths', 'SQLite', crowd],
  ['the same, with one token for all', 'SQLite', { ...crowd, tokens: 1 }],
  ['the same on PostgreSQL, three instances, a hundred tokens', 'PostgreSQL', { ...crowd, instances: 3 }],
];

/** How many files, and so connections, a process may have open: Node raises its own limit up to it. */
const openFiles = (): number =>
  Number.parseInt(spawnSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).stdout ?? '', 10) || Infinity;

const few = 0.01;
/** Beyond it, waiting in line takes most of the time of an answer. */
const busy = 0.8;
const gigabitBytes = 1e9 / 8;

/** What can break as the load rises, and when it counts as broken. */
export interface LoadLimit {
  readonly name: string;
  readonly reachedWhen: string;
  /** How much of what is there is used: 1 is where it counts as reached. */
  readonly used: (outcome: Outcome) => number;
}

const loadLimits = (files: number): readonly LoadLimit[] => [
  {
    name: 'hot paths',
    reachedWhen: '1 % of the jobs give up at the end of their `wait`',
    used: ({ gaveUp, ended }) => gaveUp / Math.max(1, ended) / few,
  },
  {
    name: 'the rate limit, with one token for all jobs',
    reachedWhen: '1 % of the requests would be refused with 429',
    used: ({ oneTokenRefusedShare }) => oneTokenRefusedShare / few,
  },
  {
    name: 'the service itself: its thread or its writer',
    reachedWhen: 'it is at work for 80 % of the time',
    used: ({ threadBusy, writerBusy }) => Math.max(threadBusy, writerBusy) / busy,
  },
  {
    name: 'bandwidth of lists',
    reachedWhen: 'lists fill 80 % of a link of 1 Gbit/s',
    used: ({ listedBytesPerSecond }) => listedBytesPerSecond / gigabitBytes / busy,
  },
  {
    name: 'connections',
    reachedWhen: `80 % of the ${Number.isFinite(files) ? numberText(files) : 'endless'} files that a process may open here`,
    used: ({ connections }) => connections / files / busy,
  },
];

/**
 * With the fewest jobs of all that were tried that reach them, or undefined, and how much is used with the most. In the
 * order in which they break; what holds comes last, what is closest to breaking first of these.
 */
export function whatBreaks(limits: readonly LoadLimit[], sweep: readonly Outcome[]) {
  const rising = sweep.toSorted((one, other) => one.jobs - other.jobs);
  const most = rising.slice(-1);
  return limits
    .map((limit) => {
      const jobs = rising.find((outcome) => limit.used(outcome) >= 1)?.jobs;
      return { limit, jobs, used: Math.max(0, ...most.map(limit.used)) };
    })
    .toSorted((one, other) => (one.jobs ?? 1e9) - (other.jobs ?? 1e9) || other.used - one.used);
}

async function measuredOn(results: Results, database: Database) {
  const measurements = measurementsIn(results, database);
  if (measurements === undefined) return [];
  const times = calibrate(measurements);
  return [{ database, measurements, times, predictions: await predict(times, measurements) }];
}

/** A sentence when the results do not tell how long the service takes. */
export async function study(request: StudyRequest, results: Results, progress: (text: string) => void) {
  const { workload, seed, minutes, alone } = request;
  progress('the service under the loads that it was measured with');
  const databases = [...(await measuredOn(results, 'SQLite')), ...(await measuredOn(results, 'PostgreSQL'))];
  const timesOn = (wanted: Database) => databases.find(({ database }) => database === wanted)?.times;
  const times = timesOn('SQLite');
  if (times === undefined)
    return 'How long the service takes on SQLite is not measured. Run npm run bench -- service polls.';

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
  for (const [name, database, change] of alone ? [] : variants) {
    const times = timesOn(database);
    if (times === undefined) continue;
    progress(name);
    const its = { workload: { ...workload, ...change }, minutes: change.paths === undefined ? minutes : crowdMinutes };
    outcomes.push({ name, outcome: await simulate({ ...its, times, seed }) });
  }
  return {
    request,
    measured: { ...results, databases },
    outcome,
    sweep: sweep.toSorted((one, other) => one.jobs - other.jobs),
    breaks: whatBreaks(loadLimits(openFiles()), sweep),
    variants: outcomes,
  };
}
