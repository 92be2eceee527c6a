import type { Machine, Results } from '../results.ts';
import { type Limit, limitsOf, openFiles, type Reached, whatBreaks } from './limits.ts';
import { type Database, measurementsIn } from './measured.ts';
import { type Prediction, predict } from './prediction.ts';
import { calibrate, type Measurements, type ServiceTimes } from './service-times.ts';
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

export interface Variant {
  readonly name: string;
  readonly outcome: Outcome;
}

export interface MeasuredDatabase {
  readonly database: Database;
  readonly measurements: Measurements;
  readonly times: ServiceTimes;
  readonly predictions: readonly Prediction[];
}

export interface Study {
  readonly request: StudyRequest;
  readonly measured: {
    readonly date: string;
    readonly machine: Machine;
    readonly loadBefore: number;
    readonly loadAfter: number;
    readonly quick: boolean;
    readonly databases: readonly MeasuredDatabase[];
  };
  readonly outcome: Outcome;
  readonly sweep: readonly Outcome[];
  readonly breaks: readonly Reached[];
  readonly variants: readonly Variant[];
}

/** So many times the jobs that were asked for. */
const sweptFactors = [1 / 8, 1 / 4, 1 / 2, 2, 4];

/** What is asked of it piles up, and with more jobs there would be nothing to see but more of that. */
const isOverrun = ({ threadBusy, writerBusy }: Outcome): boolean => Math.max(threadBusy, writerBusy) > 0.98;

/** Where everybody wants the same few paths, most requests are polls, and it takes no long time to see what they do. */
const crowd = { paths: 100, zipf: 0, waitSeconds: 180 } as const;
const crowdMinutes = 3;

interface Planned {
  readonly name: string;
  readonly change: Partial<Workload>;
  readonly database?: Database;
  readonly minutes?: number;
}

const variants: readonly Planned[] = [
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

async function databaseOf(results: Results, database: Database): Promise<readonly MeasuredDatabase[]> {
  const measurements = measurementsIn(results, database);
  if (measurements === undefined) return [];
  const times = calibrate(measurements);
  return [{ database, measurements, times, predictions: await predict(times, measurements) }];
}

/** Undefined when the results do not tell how long the service takes on that database. */
export async function study(
  request: StudyRequest,
  results: Results,
  progress: (text: string) => void,
): Promise<Study | undefined> {
  const { workload, seed, minutes, alone } = request;
  progress('the service under the loads that it was measured with');
  const databases = [...(await databaseOf(results, 'SQLite')), ...(await databaseOf(results, 'PostgreSQL'))];
  const timesOn = (wanted: Database): ServiceTimes | undefined =>
    databases.find(({ database }) => database === wanted)?.times;
  const times = timesOn(request.database);
  if (times === undefined) return undefined;

  progress(`${workload.jobs} jobs`);
  const outcome = await simulate({ workload, times, seed, minutes });
  const sweep = [outcome];
  const made: Variant[] = [{ name: 'as above', outcome }];
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
    made.push({
      name,
      outcome: await simulate({ workload: { ...workload, ...change }, times: itsTimes, seed, minutes: its }),
    });
  }
  const limits: readonly Limit[] = limitsOf(openFiles());
  const { date, machine, loadBefore, loadAfter, quick } = results;
  return {
    request,
    measured: { date, machine, loadBefore, loadAfter, quick, databases },
    outcome,
    sweep: sweep.toSorted((one, other) => one.jobs - other.jobs),
    breaks: whatBreaks(limits, sweep),
    variants: made,
  };
}
