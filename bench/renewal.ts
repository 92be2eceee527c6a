import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { preload } from '../test/support/preload.ts';
import type { Job } from '../test/support/runner/job.ts';
import { startJob } from './action-step.ts';
import { atMost, type Bench, type Benchmark, figure, inTurns, medianFigure, rounds } from './benchmark.ts';
import { newPlace } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** Renewed at a third of the ttl, locks have several rounds in the time of the work. */
const full = { rounds: 21, sizes: [1, 100, 5_000], workMs: 60_000, ttl: '30s' };
const small: typeof full = { rounds: 2, sizes: [1, 5], workMs: 3_000, ttl: '3s' };

/** What the process that renews has used, told at its end. It has no variables but those of Node. */
const countingUsage = (file: string): string =>
  preload(`
  import { appendFileSync, readFileSync } from 'node:fs';
  import { subscribe } from 'node:diagnostics_channel';
  if (process.argv[1].endsWith('renew/index.js')) {
    const sent = [];
    subscribe('http.client.request.start', () => { sent.push(Date.now()); });
    process.on('exit', () => {
      const kilobytes = Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
      appendFileSync(${JSON.stringify(file)}, JSON.stringify({ sent, peakBytes: kilobytes * 1024 }));
    });
  }
`);

/** Short, because Linux takes no variable of more than 128 KB, and the paths of a step are in one. */
const pathsOf = (count: number): string =>
  Array.from({ length: count }, (_, number) => `Maps/${number}.umap`).join('\n');

async function lockStep(job: Job, service: RunningService, inputs: Readonly<Record<string, string>>, env = {}) {
  const { baseUrl, token, workspace } = service;
  const given = { operation: 'lock', glob: 'false', 'base-url': baseUrl, token, workspace, ...inputs };
  const step = await job.run({ with: given, env });
  if (step.conclusion !== 'success') throw new Error(`A step has failed:\n${step.log}`);
  return step.durationMs;
}

/** How long one round of renewals took at the most: rounds are seconds apart. */
function longestRound(sent: readonly number[]): number {
  const pauseMs = 3_000;
  const begins = sent.filter((at, index) => at - (sent[index - 1] ?? 0) > pauseMs);
  const ends = sent.filter((at, index) => (sent[index + 1] ?? Number.POSITIVE_INFINITY) - at > pauseMs);
  return Math.max(...begins.map((begin, index) => (ends[index] ?? begin) - begin));
}

async function renewalsOf(size: number, service: RunningService, bench: Bench, { workMs, ttl }: typeof full) {
  const job = await startJob(bench, { secrets: [service.token] });
  const file = join(job.folders.temp, 'usage');
  await lockStep(job, service, { path: pathsOf(size), renew: 'true', ttl }, { NODE_OPTIONS: countingUsage(file) });
  await sleep(workMs, undefined, { signal: bench.signal });
  const [post] = await job.post();
  if (post?.conclusion !== 'success') throw new Error(`The post-step has failed:\n${post?.log}`);
  const text = await readFile(file, 'utf8');
  await job.end();
  // The module above has written it.
  return JSON.parse(text) as { readonly sent: readonly number[]; readonly peakBytes: number };
}

const partWhy = 'a fifth of a `ttl` of 5 minutes, so that trouble leaves time to try again';

export const renewal: Benchmark = {
  name: 'renewal',
  what: 'What `renew: true` costs: the time of the lock step, and the process that renews while the job works.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const service = await startService(bench, await newPlace(bench));
    const plain = { renew: 'false', ms: [] as number[] };
    const renewed = { renew: 'true', ms: [] as number[] };
    await inTurns(bench, plan.rounds, [plain, renewed], async ({ renew, ms }) => {
      const job = await startJob(bench, { secrets: [service.token] });
      ms.push(await lockStep(job, service, { path: 'Content/Hero.uasset', renew }));
      await job.post();
      await job.end();
    });
    const used = [];
    for (const size of plan.sizes) {
      bench.progress(`the renewals of ${size} locks`);
      used.push({ size, ...(await renewalsOf(size, service, bench, plan)) });
    }
    const what = (size: number): string => `${size.toLocaleString('en-US')} ${size === 1 ? 'lock' : 'locks'}`;
    return [
      medianFigure('a lock step without `renew`', 'ms', plain.ms),
      figure('a lock step with `renew: true`, more than without', 'ms', medianOf(renewed.ms) - medianOf(plain.ms), {
        limit: atMost(15, 'design §6'),
        shown: 'in README',
        details: [rounds('ms', renewed.ms, 'with')],
      }),
      ...used.flatMap(({ size, sent, peakBytes }) => [
        figure(`${what(size)}, ttl ${plan.ttl}: requests a minute`, '', (sent.length / plan.workMs) * 60_000, {
          shown: 'in docs',
        }),
        figure(`${what(size)}: memory of the process at its peak`, 'MiB', peakBytes / 2 ** 20, {
          limit: atMost(100, 'as much as a runner does not miss'),
        }),
      ]),
      figure(
        `${what(plan.sizes.at(-1) ?? 0)}: one round of renewals`,
        's',
        longestRound(used.at(-1)?.sent ?? []) / 1_000,
        {
          limit: atMost(60, partWhy),
        },
      ),
    ];
  },
};
