import type { Benchmark } from './benchmark.ts';
import { deliveries } from './deliveries.ts';
import { handOver } from './hand-over.ts';
import { jobs } from './jobs.ts';
import { lists } from './lists.ts';
import { locks } from './locks.ts';
import { polls } from './polls.ts';
import { service } from './service.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { storm } from './storm.ts';
import { syncs } from './syncs.ts';
import { workspaces } from './workspaces.ts';

/** All there are, in the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  start,
  size,
  locks,
  jobs,
  service,
  workspaces,
  lists,
  polls,
  handOver,
  storm,
  syncs,
  deliveries,
];
