import { setTimeout as sleep } from 'node:timers/promises';
import { plural } from '../src/service/dashboard/assets/text.js';
import { type Inputs, pathsOf, runStep } from './action-step.ts';
import { atMost, type Benchmark, figure, inTurns, medianFigure } from './benchmark.ts';
import { startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** Renewed at a third of the ttl, locks have several rounds in the time of the work. */
const full = { rounds: 21, sizes: [1, 100, 5_000], workMs: 60_000, ttl: '30s' };
const small: typeof full = { rounds: 2, sizes: [1, 5], workMs: 3_000, ttl: '3s' };

/** How long one round of renewals took at the most: rounds are seconds apart. */
function longestRound(sent: readonly number[]): number {
  const pauseMs = 3_000;
  const begins = sent.filter((at, index) => at - (sent[index - 1] ?? 0) > pauseMs);
  const ends = sent.filter((at, index) => (sent[index + 1] ?? Number.POSITIVE_INFINITY) - at > pauseMs);
  return Math.max(...begins.map((begin, index) => (ends[index] ?? begin) - begin));
}

const partWhy = 'a fifth of a `ttl` of 5 minutes, so that trouble leaves time to try again';

export const renewal: Benchmark = {
  name: 'renewal',
  what: 'What `renew: true` costs: the time of the lock step, and the process that renews while the job works.',
  async measure(bench) {
    const { rounds: number, sizes, workMs, ttl } = bench.quick ? small : full;
    const { baseUrl, token, workspace } = await startService(bench);
    const inputs = { operation: 'lock', glob: 'false', 'base-url': baseUrl, token, workspace };
    const plain = { renew: 'false', ms: [] as number[] };
    const renewed = { renew: 'true', ms: [] as number[] };
    await inTurns(bench, number, [plain, renewed], async ({ renew, ms }) => {
      ms.push((await runStep({ ...inputs, path: 'Content/Hero.uasset', renew }, bench)).stepMs);
    });

    async function renewalsOf(size: number) {
      bench.progress(`the renewals of ${plural(size, 'lock')}`);
      const renewing: Inputs = { ...inputs, path: pathsOf(size).join('\n'), renew: 'true', ttl };
      const work = (): Promise<void> => sleep(workMs, undefined, { signal: bench.signal });
      const { used } = await runStep(renewing, bench, { isCounted: true, work });
      const { sent, peakBytes } = used.find(({ entry }) => entry.endsWith('renew/index.js')) ?? {};
      if (sent === undefined || peakBytes === undefined) throw new Error('No process has renewed the locks.');
      return { what: plural(size, 'lock'), sent, peakBytes };
    }
    const used = [];
    for (const size of sizes) used.push(await renewalsOf(size));
    const last = used.at(-1);
    return [
      medianFigure('a lock step without `renew`', 'ms', plain.ms),
      figure('a lock step with `renew: true`, more than without', 'ms', medianOf(renewed.ms) - medianOf(plain.ms), {
        limit: atMost(25, 'design §6'),
      }),
      ...used.flatMap(({ what, sent, peakBytes }) => [
        figure(`${what}, ttl ${ttl}: requests a minute`, '', (sent.length / workMs) * 60_000),
        figure(`${what}: memory of the process at its peak`, 'MiB', peakBytes / 2 ** 20, {
          limit: atMost(100, 'as much as a runner does not miss'),
        }),
      ]),
      figure(`${last?.what}: one round of renewals`, 's', longestRound(last?.sent ?? []) / 1_000, {
        limit: atMost(60, partWhy),
      }),
    ];
  },
};
