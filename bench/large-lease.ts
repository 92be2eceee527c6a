import { formatNumber } from '../src/interface/format.ts';
import { atMost, type Benchmark, figure, medianFigure } from './benchmark.ts';
import { lockPath } from './service/load.ts';
import { measurePairs, type Pairs } from './service/pairs.ts';
import { openClient } from './service/request.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { percentileOf } from './statistics.ts';

const full = { paths: 20_000, rounds: 2, warmUpMs: 1_000, ms: 8_000 };
const small = { paths: 200, rounds: 1, warmUpMs: 50, ms: 200 };
const clients = 8;

/** Acquires and releases a lease of this many paths repeatedly. `end` returns the times of both. */
function repeatLease(service: RunningService, paths: number) {
  const { ask, close } = openClient(service);
  const ending = new AbortController();
  const times = { put: [] as number[], delete: [] as number[] };
  const all = Array.from({ length: paths }, (_, index) => lockPath('large', index));
  const body = JSON.stringify({ paths: all, type: 'exclusive', ttl: '1h' });
  async function run(): Promise<void> {
    for (let number = 0; !ending.signal.aborted; number += 1) {
      const path = `/leases/large-lease-${String(number).padStart(6, '0')}`;
      const askedAt = performance.now();
      await ask({ method: 'PUT', path, body, statuses: [201] });
      const heldAt = performance.now();
      await ask({ method: 'DELETE', path, statuses: [200] });
      times.put.push(heldAt - askedAt);
      times.delete.push(performance.now() - heldAt);
    }
    close();
  }
  const running = run();
  return async () => {
    ending.abort();
    await running;
    return times;
  };
}

export const largeLease: Benchmark = {
  name: 'large-lease',
  what: 'Locks of single paths next to a lease of 20,000 paths that is acquired and released again and again.',
  async measure(bench) {
    const { paths, ...times } = bench.quick ? small : full;
    const service = await startService(bench, { rateLimit: 'off' });
    const { baseUrl, token, workspace, pid } = service;
    const server = { kind: 'service', target: { baseUrl, token, workspace }, pid } as const;
    const pairs = (): Pairs => ({ server, clients, rates: [], processorMs: [], latenciesMs: [] });
    const [alone, beside] = [pairs(), pairs()];
    await measurePairs(bench, times, [alone]);
    const end = repeatLease(service, paths);
    await measurePairs(bench, times, [beside]);
    const lease = await end();
    const what = `a lease of ${formatNumber(paths)} paths`;
    const limit = atMost(100, 'other requests for locks must not be held up');
    return [
      figure(`p99 of a lock, ${clients} clients`, 'ms', percentileOf(alone.latenciesMs, 99)),
      figure(`p99 of a lock next to ${what}`, 'ms', percentileOf(beside.latenciesMs, 99), { limit, shown: true }),
      medianFigure(`${what}: time to acquire it`, 'ms', lease.put),
      medianFigure(`${what}: time to release it`, 'ms', lease.delete),
    ];
  },
};
