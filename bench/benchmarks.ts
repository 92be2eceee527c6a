import type { Benchmark } from './benchmark.ts';
import { locks } from './locks.ts';
import { service } from './service.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { storm } from './storm.ts';

/** All there are, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [start, size, locks, service, storm];
