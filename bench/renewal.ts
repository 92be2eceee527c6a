import { setTimeout as sleep } from 'node:timers/promises';
import { pluralize } from '../src/interface/format.ts';
import { type Inputs, pathsOf, runStep } from './action-step.ts';
import { atMost, type Benchmark, figure, inTurns, medianFigure } from './benchmark.ts';
import { startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** Locks are renewed after a third of their ttl, so the time of the work covers several rounds. */
const full = { rounds: 21, sizes: [1, 100, 5_000], workMs: 60_000, ttlSeconds: 30 };
const small: typeof full = { rounds: 2, sizes: [1, 5], workMs: 3_000, ttlSeconds: 3 };

/** The longest time between two renewals of the same locks: a lease is renewed with one request. */
const longestGapMs = (sent: readonly number[]): number =>
  Math.max(...sent.slice(1).map((at, index) => at - (sent[index] ?? at)));

export const renewal: Benchmark = {
  name: 'renewal',
  what: 'Cost of `renew: true`: the time of the lock step, and the process that renews the locks during the job.',
  async measure(bench) {
    const { rounds: number, sizes, workMs, ttlSeconds } = bench.quick ? small : full;
    const ttl = `${ttlSeconds}s`;
    const { baseUrl, token, workspace } = await startService(bench);
    const inputs = { operation: 'lock', glob: 'false', 'base-url': baseUrl, token, workspace };
    const plain = { renew: 'false', ms: [] as number[] };
    const renewed = { renew: 'true', ms: [] as number[] };
    await inTurns(bench, number, [plain, renewed], async ({ renew, ms }) => {
      ms.push((await runStep({ ...inputs, path: 'Content/Hero.uasset', renew }, bench)).stepMs);
    });

    async function renewalsOf(size: number) {
      bench.progress(`renewing ${pluralize(size, 'lock')}`);
      const renewing: Inputs = { ...inputs, path: pathsOf(size).join('\n'), renew: 'true', ttl };
      const work = (): Promise<void> => sleep(workMs, undefined, { signal: bench.signal });
      const { used } = await runStep(renewing, bench, { isCounted: true, work });
      const { sent, peakBytes } = used.find(({ entry }) => entry.endsWith('renew/index.js')) ?? {};
      if (sent === undefined || peakBytes === undefined) throw new Error('No process renewed the locks.');
      return { what: pluralize(size, 'lock'), sent, peakBytes };
    }
    const used = [];
    for (const size of sizes) used.push(await renewalsOf(size));
    const last = used.at(-1);
    return [
      medianFigure('a lock step without `renew`', 'ms', plain.ms),
      figure('extra time of a lock step with `renew: true`', 'ms', medianOf(renewed.ms) - medianOf(plain.ms), {
        limit: atMost(25, 'design §6'),
        shown: true,
      }),
      ...used.flatMap(({ what, sent, peakBytes }) => [
        figure(`${what}, ttl ${ttl}: requests a minute`, '', (sent.length / workMs) * 60_000),
        figure(`${what}: peak memory of the process`, 'MiB', peakBytes / 2 ** 20, {
          limit: atMost(60, 'design §6'),
        }),
      ]),
      figure(`${last?.what}: longest time between two renewals`, 's', longestGapMs(last?.sent ?? []) / 1_000, {
        limit: atMost(ttlSeconds / 3 + 1, 'design §6'),
      }),
    ];
  },
};
