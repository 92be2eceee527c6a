import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pluralize } from '../src/interface/format.ts';
import { pathsOf, runStep, type StepOptions } from './action-step.ts';
import { atLeast, atMost, type Bench, type Benchmark, figure, inTurns, medianFigure } from './benchmark.ts';
import { run } from './process.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** Numbers of paths: those of the steps that lock several, and that of the comparison with curl. */
const full = { rounds: 3, some: 50, compared: 500, most: 5_000, plain: 3_500 };
const small = { rounds: 1, some: 2, compared: 5, most: 50, plain: 5 };

const ask = 'ask() { curl --silent --show-error --fail --output /dev/null --header "@$HEADERS" "$@"; }';

/** Loops as in a hand-written step: one call of curl for each lock, and one for each release. */
const loops = {
  lock: 'ask --data "{\\"path\\":\\"$path\\",\\"type\\":\\"exclusive\\",\\"ttl\\":\\"1h\\"}" "$LOCKS"',
  release: `ask --request DELETE "$LOCKS/\${path//\\//%2F}"`,
};

/** Prepares a loop of curl over the paths. The returned function runs it, and returns its duration. */
async function curlLoops({ baseUrl, token, workspace }: RunningService, paths: readonly string[], bench: Bench) {
  const { folder, signal } = bench;
  const [headers, list] = [join(folder, 'headers'), join(folder, 'paths')];
  // In a file, because all users of the machine can read arguments.
  await writeFile(headers, `Authorization: Bearer ${token}\nContent-Type: application/json\n`, { mode: 0o600 });
  await writeFile(list, paths.map((path) => `${path}\n`).join(''));
  const locks = `${baseUrl}/workspaces/${workspace}/locks`;
  const env = { PATH: process.env['PATH'], HEADERS: headers, PATHS: list, LOCKS: locks };
  return async (what: keyof typeof loops): Promise<number> => {
    const script = `set -euo pipefail\n${ask}\nwhile read -r path; do ${loops[what]}; done <"$PATHS"`;
    return (await run('bash', ['-c', script], { env, signal })).ms;
  };
}

/** A way to lock and release the paths, and its duration in each round. */
interface Way {
  readonly ms: number[];
  readonly measure: () => Promise<number>;
}

const way = (measure: () => Promise<number>): Way => ({ ms: [], measure });

export const locks: Benchmark = {
  name: 'locks',
  what: 'Paths that one step of the action locks and its post-step releases, compared with a loop of curl.',
  async measure(bench) {
    const service = await startService(bench);
    const plan = bench.quick ? small : full;
    const { baseUrl, token, workspace } = service;
    const inputs = { operation: 'lock', 'base-url': baseUrl, token, workspace };
    const step = (paths: readonly string[], options: StepOptions = {}) =>
      runStep({ ...inputs, path: paths.join('\n') }, bench, options);

    /** A step that locks `size` paths, with its resource usage. */
    async function ofSize(size: number) {
      const what = pluralize(size, 'path');
      bench.progress(`resource usage of ${what}`);
      const used = await step(pathsOf(size), { isCounted: true });
      return { size, what, used, ...way(async () => (await step(pathsOf(size))).ms) };
    }
    const [one, some] = [await ofSize(1), await ofSize(plan.some)];
    const sizes = [one, some, await ofSize(plan.compared), await ofSize(plan.most)];
    const hasCurl = spawnSync('curl', ['--version']).status === 0;
    if (!hasCurl) bench.leaveOut({ name: 'a loop of curl', reason: 'curl is not installed.' });
    await inTurns(bench, plan.rounds, sizes, async ({ ms, measure }) => void ms.push(await measure()));

    /** Time per path after the first, which includes the start of two processes and all other one-time costs. */
    const perPath = ({ size, ms }: typeof one): number => (medianOf(ms) - medianOf(one.ms)) / (size - 1);
    return [
      ...sizes.flatMap((each) => [
        medianFigure(`${each.what}: time`, 'ms', each.ms),
        ...(each === one ? [] : [figure(`${each.what}: time per path after the first`, 'ms', perPath(each))]),
        figure(`${each.what}: requests`, '', each.used.requests, {
          limit: atMost(4, 'three of the step, one of the post-step'),
        }),
        figure(`${each.what}: connections`, '', each.used.connections),
        figure(`${each.what}: peak memory`, 'MiB', each.used.peakBytes / 2 ** 20),
      ]),
      ...(hasCurl ? await besideLoops(bench, plan) : []),
    ];
  },
};

/** Compares a step and its post-step, each with one request for all paths, with a request for each path. */
async function besideLoops(bench: Bench, { plain }: typeof full) {
  const service = await startService(bench);
  const { baseUrl, token, workspace } = service;
  const paths = pathsOf(plain);
  const inputs = { operation: 'lock', 'base-url': baseUrl, token, workspace, path: paths.join('\n') };
  const what = pluralize(plain, 'path');
  bench.progress(`${what} in one step`);
  const { stepMs, ms } = await runStep(inputs, bench);
  bench.progress(`${what} in a loop of curl`);
  const loop = await curlLoops(service, paths, bench);
  const [lockMs, releaseMs] = [await loop('lock'), await loop('release')];
  const limit = atLeast(60, 'design §6');
  return [
    figure(`${what}: a loop of curl relative to a lock step`, '×', lockMs / stepMs, { limit, shown: true }),
    figure(`${what}: a loop of curl relative to a post-step`, '×', releaseMs / (ms - stepMs), { limit }),
  ];
}
