import { bench } from './command.ts';
import { deliveries } from './deliveries.ts';
import { jobs } from './jobs.ts';
import { largeLease } from './large-lease.ts';
import { lists } from './lists.ts';
import { locks } from './locks.ts';
import { objects } from './objects.ts';
import { pages } from './pages.ts';
import { peers } from './peers.ts';
import { reconnect } from './reconnect.ts';
import { renewal } from './renewal.ts';
import { lfs, service } from './service.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { storm, syncs } from './syncs.ts';
import { handOver } from './waiting.ts';
import { workspaces } from './workspaces.ts';

/** All benchmarks, in the order in which they run. */
const all = [
  start,
  size,
  locks,
  largeLease,
  renewal,
  jobs,
  service,
  peers,
  lfs,
  workspaces,
  lists,
  pages,
  handOver,
  reconnect,
  storm,
  syncs,
  objects,
  deliveries,
];

// A stopped benchmark may have pending work that would keep the process alive.
process.exit(await bench(process.argv.slice(2), all));
