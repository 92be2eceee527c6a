import { bench } from './command.ts';
import { deliveries } from './deliveries.ts';
import { handOver } from './hand-over.ts';
import { jobs } from './jobs.ts';
import { lfs } from './lfs.ts';
import { lists } from './lists.ts';
import { locks } from './locks.ts';
import { objects } from './objects.ts';
import { polls } from './polls.ts';
import { renewal } from './renewal.ts';
import { service } from './service.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { storm, syncs } from './syncs.ts';
import { workspaces } from './workspaces.ts';

/** All benchmarks, in the order in which they run. */
const all = [
  start,
  size,
  locks,
  renewal,
  jobs,
  service,
  lfs,
  workspaces,
  lists,
  polls,
  handOver,
  storm,
  syncs,
  objects,
  deliveries,
];

// Nobody waits for what a stopped benchmark still waits for.
process.exit(await bench(process.argv.slice(2), all));
