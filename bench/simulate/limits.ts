import { execFileSync } from 'node:child_process';
import type { Outcome } from './simulation.ts';

/** What can break as the load rises, and when it counts as broken. */
export interface Limit {
  readonly name: string;
  /** How much of what is there is used: 1 is where it counts as reached. */
  readonly used: (outcome: Outcome) => number;
  readonly reachedWhen: string;
}

const share = (percent: number): string => `${percent} %`;

const fewPercent = 1;
/** Beyond it, waiting in line takes most of the time of an answer. */
const busyPercent = 80;
const gigabit = 1e9 / 8;

/** How many files, and so connections, a process may have open: Node raises its own limit up to it. Undefined: any number. */
export function openFiles(): number | undefined {
  try {
    const text = execFileSync('bash', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

export function limitsOf(files: number | undefined): readonly Limit[] {
  const known: readonly Limit[] = [
    {
      name: 'hot paths',
      used: ({ gaveUp, ended }) => gaveUp / Math.max(1, ended) / (fewPercent / 100),
      reachedWhen: `${share(fewPercent)} of the jobs give up at the end of their \`wait\``,
    },
    {
      name: 'the rate limit, with one token for all jobs',
      used: ({ oneTokenRefusedShare }) => oneTokenRefusedShare / (fewPercent / 100),
      reachedWhen: `${share(fewPercent)} of the requests would be refused with 429`,
    },
    {
      name: 'the service itself: its thread or its writer',
      used: ({ threadBusy, writerBusy }) => Math.max(threadBusy, writerBusy) / (busyPercent / 100),
      reachedWhen: `it is at work for ${share(busyPercent)} of the time`,
    },
    {
      name: 'bandwidth of lists',
      used: ({ listedBytesPerSecond }) => listedBytesPerSecond / gigabit / (busyPercent / 100),
      reachedWhen: `lists fill ${share(busyPercent)} of a link of 1 Gbit/s`,
    },
  ];
  if (files === undefined) return known;
  const connections: Limit = {
    name: 'connections',
    used: ({ connections }) => connections / files / (busyPercent / 100),
    reachedWhen: `${share(busyPercent)} of the ${files.toLocaleString('en-US')} files that a process may open here`,
  };
  return [...known, connections];
}

export interface Reached {
  readonly limit: Limit;
  /** The fewest jobs of all that were tried; undefined when it held for all of them. */
  readonly jobs: number | undefined;
  /** With the most jobs. */
  readonly used: number;
}

/** In the order in which they break; what holds comes last, what is closest to breaking first of these. */
export function whatBreaks(limits: readonly Limit[], sweep: readonly Outcome[]): readonly Reached[] {
  const rising = sweep.toSorted((one, other) => one.jobs - other.jobs);
  const last = rising.at(-1);
  const reached = limits.map((limit) => ({
    limit,
    jobs: rising.find((outcome) => limit.used(outcome) >= 1)?.jobs,
    used: last === undefined ? 0 : limit.used(last),
  }));
  const order = ({ jobs }: Reached): number => jobs ?? Number.POSITIVE_INFINITY;
  return reached.toSorted((one, other) => {
    const [first, second] = [order(one), order(other)];
    return first === second ? other.used - one.used : first - second;
  });
}
