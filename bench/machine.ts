import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

export interface Machine {
  readonly node: string;
  readonly system: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryBytes: number;
}

export function thisMachine(): Machine {
  return {
    node: process.version,
    system: `${platform()} ${release()}`,
    processor: cpus()[0]?.model.trim() ?? 'of an unknown kind',
    processors: availableParallelism(),
    memoryBytes: totalmem(),
  };
}

/** How many processes wanted a processor, on average of the last minute. On Windows there is no such number, and it is 0. */
export const loadNow = (): number => loadavg()[0] ?? 0;

/** Before the run, the load is that of others alone. More of it than this part of the processors shows in the figures. */
const quiet = 0.5;

export const wasBusy = ({ processors }: Machine, loadBefore: number): boolean => loadBefore > quiet * processors;
