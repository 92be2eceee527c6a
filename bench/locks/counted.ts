import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bench } from '../benchmark.ts';
import { byAction } from './by-action.ts';
import type { Place } from './place.ts';

/** What a step and its post-step have used, together. */
export interface Counted {
  readonly requests: number;
  readonly connections: number;
  /** Of the one that has used more, at its peak. */
  readonly peakBytes: number;
}

/** What each of the two processes says at its end, as a line of a file. */
interface Told {
  readonly requests: number;
  readonly connections: number;
  /** In kilobytes of 1,024 bytes, on every system. */
  readonly maxRSS: number;
}

/** Node tells of each request and each connection that its own modules make. */
const count = `
  import { appendFileSync } from 'node:fs';
  import { subscribe } from 'node:diagnostics_channel';
  const told = { requests: 0, connections: 0 };
  subscribe('http.client.request.start', () => { told.requests += 1; });
  subscribe('net.client.socket', () => { told.connections += 1; });
  process.on('exit', () => {
    const { maxRSS } = process.resourceUsage();
    appendFileSync(process.env.BENCH_COUNTED, JSON.stringify({ ...told, maxRSS }) + '\\n');
  });
`;

/** In a run of its own: counting takes time. */
export async function counted(
  place: Place,
  paths: readonly string[],
  bench: Pick<Bench, 'folder' | 'signal'>,
): Promise<Counted> {
  const own = await mkdtemp(join(bench.folder, 'counted-'));
  const file = join(own, 'told');
  await byAction(place, paths, bench, {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(count)}`,
    BENCH_COUNTED: file,
  });
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  await rm(own, { recursive: true });
  // The module above has written them.
  const told = lines.map((line) => JSON.parse(line) as Told);
  return {
    requests: told.reduce((sum, { requests }) => sum + requests, 0),
    connections: told.reduce((sum, { connections }) => sum + connections, 0),
    peakBytes: Math.max(...told.map(({ maxRSS }) => maxRSS * 1_024)),
  };
}
