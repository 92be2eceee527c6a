import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pluralize } from '../src/interface/format.ts';
import { pathsOf, runStep, type StepOptions } from './action-step.ts';
import {
  atLeast,
  atMost,
  type Bench,
  type Benchmark,
  figure,
  inTurns,
  medianFigure,
  ratioFigure,
} from './benchmark.ts';
import { run } from './process.ts';
import { openClient } from './service/request.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** Numbers of paths: those of the steps that lock several, and that of the comparison with plain connections. */
const full = { rounds: 3, some: 50, compared: 500, most: 5_000, plain: 3_500 };
const small = { rounds: 1, some: 2, compared: 5, most: 50, plain: 5 };

/** Two loops as in a hand-written step: one call of curl per lock, and one per release. */
const script = `
set -euo pipefail
ask() { curl --silent --show-error --fail --output /dev/null --header "@$HEADERS" "$@"; }
while read -r path; do
  ask --data "{\\"path\\":\\"$path\\",\\"type\\":\\"exclusive\\",\\"ttl\\":\\"1h\\"}" "$LOCKS"
done <"$PATHS"
while read -r path; do ask --request DELETE "$LOCKS/\${path//\\//%2F}"; done <"$PATHS"
`;

/** Prepares the loops of curl. The returned function runs them, and returns their duration. */
async function curlLoop({ baseUrl, token, workspace }: RunningService, paths: readonly string[], bench: Bench) {
  const { folder, signal } = bench;
  const [headers, list] = [join(folder, 'headers'), join(folder, 'paths')];
  // In a file, because all users of the machine can read arguments.
  await writeFile(headers, `Authorization: Bearer ${token}\nContent-Type: application/json\n`, { mode: 0o600 });
  await writeFile(list, paths.map((path) => `${path}\n`).join(''));
  const locks = `${baseUrl}/workspaces/${workspace}/locks`;
  const env = { PATH: process.env['PATH'], HEADERS: headers, PATHS: list, LOCKS: locks };
  return async () => (await run('bash', ['-c', script], { env, signal })).ms;
}

/** A way to lock and release the paths, and its duration in each round. */
interface Way {
  readonly ms: number[];
  readonly measure: () => Promise<number>;
}

const way = (measure: () => Promise<number>): Way => ({ ms: [], measure });

const growthWhy =
  'the cost of a path must not grow with the number of paths: 25 % is for noise; linear growth would mean up to ten times the cost';

export const locks: Benchmark = {
  name: 'locks',
  what: 'Paths that one step of the action locks and its post-step releases, compared with curl and plain connections.',
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
    const [compared, most] = [await ofSize(plan.compared), await ofSize(plan.most)];
    const sizes = [one, some, compared, most];
    const curl = way(await curlLoop(service, pathsOf(plan.compared), bench));
    const hasCurl = spawnSync('curl', ['--version']).status === 0;
    if (!hasCurl) bench.leaveOut({ name: 'a loop of curl', reason: 'curl is not installed.' });
    const ways = [...sizes, ...(hasCurl ? [curl] : [])];
    await inTurns(bench, plan.rounds, ways, async ({ ms, measure }) => void ms.push(await measure()));

    /** Time per path after the first, which includes the start of two processes and all other one-time costs. */
    const perPath = ({ size, ms }: typeof one): number => (medianOf(ms) - medianOf(one.ms)) / (size - 1);
    const ms = medianOf(compared.ms);
    const byLoop = figure(`${compared.what}: a loop of curl relative to one step`, '×', medianOf(curl.ms) / ms, {
      limit: atLeast(5, 'design §6'),
    });
    return [
      ...sizes.flatMap((each) => [
        medianFigure(`${each.what}: time`, 'ms', each.ms),
        ...(each === one ? [] : [figure(`${each.what}: time per path after the first`, 'ms', perPath(each))]),
        figure(`${each.what}: requests`, '', each.used.requests),
        figure(`${each.what}: connections`, '', each.used.connections),
        figure(`${each.what}: peak memory`, 'MiB', each.used.peakBytes / 2 ** 20),
      ]),
      ...(hasCurl ? [byLoop] : []),
      figure(`time per path of ${most.what} relative to ${plan.compared}`, '×', perPath(most) / perPath(compared), {
        limit: atMost(1.25, growthWhy),
      }),
      ...(await besidePlainConnections(bench, plan)),
    ];
  },
};

/** Headers of a workflow run, which the service stores with a lock. */
const ofRun = { referer: 'https://github.com/octo-games/dragon/actions/runs/1001/attempts/1' };

/**
 * Compares the action with a minimal client: the same requests over as many connections, and no other work. Without
 * an idempotency key, the service would do less work: it would store no response.
 */
async function besidePlainConnections(bench: Bench, { plain, rounds }: typeof full) {
  const service = await startService(bench, { rateLimit: 'off' });
  const { baseUrl, token, workspace } = service;
  const { ask, close } = openClient(service, bench.signal, 16);
  bench.atEnd(close);
  const paths = pathsOf(plain);
  const inputs = { operation: 'lock', 'base-url': baseUrl, token, workspace, path: paths.join('\n') };
  const times = {
    lock: [] as number[],
    release: [] as number[],
    plainLock: [] as number[],
    plainRelease: [] as number[],
  };
  for (let round = 0; round < rounds; round += 1) {
    bench.progress(`plain connections, round ${round + 1} of ${rounds}`);
    const { stepMs, ms } = await runStep(inputs, bench);
    times.lock.push(stepMs);
    times.release.push(ms - stepMs);
    const began = performance.now();
    const tags = await Promise.all(
      paths.map(async (path, index) => {
        const body = JSON.stringify({ path, type: 'exclusive', ttl: '1h' });
        const headers = { ...ofRun, 'idempotency-key': `plain-${round}/${index}`, 'lock-branch': 'main' };
        const response = await ask({ method: 'POST', path: '/locks', headers, body, statuses: [201] });
        return response.headers.etag ?? '';
      }),
    );
    const taken = performance.now();
    const release = (path: string, tag: string | undefined) =>
      ask({
        ...{ method: 'DELETE', path: `/locks/${encodeURIComponent(path)}`, statuses: [204] },
        headers: { ...ofRun, 'if-match': tag },
      });
    await Promise.all(paths.map((path, index) => release(path, tags[index])));
    times.plainLock.push(taken - began);
    times.plainRelease.push(performance.now() - taken);
  }
  const limit = atMost(1.5, 'a higher ratio would mean that work is done twice');
  const name = `${pluralize(plain, 'path')}, rate limit off`;
  return [
    ratioFigure(`${name}: a lock step relative to 16 connections`, times.lock, times.plainLock, { limit }),
    ratioFigure(`${name}: a post-step relative to 16 connections`, times.release, times.plainRelease, { limit }),
  ];
}
