import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runStep, type Usage } from './action-step.ts';
import {
  atLeast,
  atMost,
  type Bench,
  type Benchmark,
  type Figure,
  figure,
  inTurns,
  medianFigure,
  rounds,
} from './benchmark.ts';
import { run } from './process.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/**
 * How many paths a step locks, in rising order from one path; with how many of them it is compared with the other ways; and
 * how many processes of the action are started for one path each.
 */
const full = { rounds: 3, sizes: [1, 50, 500, 5_000], compared: 500, processes: 20 };
const small: typeof full = { rounds: 1, sizes: [1, 5, 50], compared: 5, processes: 2 };

/** Short, because Linux takes no variable of more than 128 KB, and the paths of a step are in one. */
const pathsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `Content/Maps/L${String(number).padStart(4, '0')}.umap`);

const counts = (number: number): string => (number === 1 ? '1 path' : `${number.toLocaleString('en-US')} paths`);

/** Both loops as somebody would write them in a step: one lock a call, and one release a call. */
const script = `
set -euo pipefail
ask() { curl --silent --show-error --fail --output /dev/null --header "@$HEADERS" "$@"; }
while read -r path; do
  ask --data "{\\"path\\":\\"$path\\",\\"type\\":\\"exclusive\\",\\"ttl\\":\\"1h\\"}" "$LOCKS"
done <"$PATHS"
while read -r path; do ask --request DELETE "$LOCKS/\${path//\\//%2F}"; done <"$PATHS"
`;

/** How long a loop of curl takes to lock and to release them. */
async function byCurl(
  { baseUrl, token, workspace }: RunningService,
  paths: readonly string[],
  { folder, signal }: Bench,
): Promise<number> {
  const own = await mkdtemp(join(folder, 'curl-'));
  const [headers, list] = [join(own, 'headers'), join(own, 'paths')];
  // In a file: arguments can be read by everybody on the machine.
  await writeFile(headers, `Authorization: Bearer ${token}\nContent-Type: application/json\n`, { mode: 0o600 });
  await writeFile(list, paths.map((path) => `${path}\n`).join(''));
  const locks = `${baseUrl}/workspaces/${workspace}/locks`;
  const env = { PATH: process.env['PATH'], HEADERS: headers, PATHS: list, LOCKS: locks };
  const { ms } = await run('bash', ['-c', script], { env, signal });
  await rm(own, { recursive: true });
  return ms;
}

/** A step that locks so many paths, and its post-step. */
interface OfSize {
  readonly size: number;
  readonly ms: number[];
  readonly usage: Usage;
}

/** What each further path costs: the start of two processes, and all that there is once, is left to the first. */
const perPath = ({ size, ms }: OfSize, [one]: readonly OfSize[]): number =>
  one === undefined || size === 1 ? medianOf(ms) : (medianOf(ms) - medianOf(one.ms)) / (size - 1);

function figuresOfSize(each: OfSize, all: readonly OfSize[]): readonly Figure[] {
  const { size, ms, usage } = each;
  const what = counts(size);
  return [
    medianFigure(`${what}: time`, 'ms', ms, { shown: 'in docs' }),
    ...(size === 1 ? [] : [figure(`${what}: for each after the first`, 'ms', perPath(each, all))]),
    figure(`${what}: requests`, '', usage.requests),
    figure(`${what}: connections`, '', usage.connections),
    figure(`${what}: memory at its peak`, 'MiB', usage.peakBytes / 2 ** 20, { shown: 'in docs' }),
  ];
}

const growthWhy =
  'the cost of a path must not grow with their number: a quarter is for the noise of a machine, and one that grew with it would be up to ten times as much';

/** The ways beside each other, over the same number of paths. */
function comparisons(
  bySize: readonly OfSize[],
  curl: readonly number[],
  single: readonly number[],
  { compared: size, processes }: typeof full,
): readonly Figure[] {
  const [compared, largest] = [bySize.find((each) => each.size === size), bySize.at(-1)];
  if (compared === undefined || largest === undefined) return [];
  const ms = medianOf(compared.ms);
  const byLoop = figure(`${counts(size)}: a loop of curl over one step`, '×', medianOf(curl) / ms, {
    limit: atLeast(5, 'design §6'),
    shown: 'in README',
    details: [rounds('ms', curl, 'curl')],
  });
  const singleMs = medianOf(single) / processes;
  return [
    ...(curl.length === 0 ? [] : [byLoop]),
    figure(`${counts(size)}: one step for each path over one step`, '×', (singleMs * size) / ms, {
      shown: 'in docs',
      details: [rounds('ms', single, `${processes} such steps, scaled`)],
    }),
    figure(
      `a path among ${counts(largest.size)} over one among ${size}`,
      '×',
      perPath(largest, bySize) / perPath(compared, bySize),
      { limit: atMost(1.25, growthWhy) },
    ),
  ];
}

/** A way to lock and release them, and how long it took in each round. */
interface Way {
  readonly ms: number[];
  readonly measure: () => Promise<number>;
}

export const locks: Benchmark = {
  name: 'locks',
  what: 'Paths that one step of the action locks and its post-step releases, beside a loop of curl and a step for each.',
  async measure(bench) {
    const service = await startService(bench, { folder: bench.folder });
    const plan = bench.quick ? small : full;
    const { baseUrl, token, workspace } = service;
    const inputs = { operation: 'lock', 'base-url': baseUrl, token, workspace };
    const step = (paths: readonly string[], options = {}) =>
      runStep({ ...inputs, path: paths.join('\n') }, bench, options);

    const bySize: OfSize[] = [];
    for (const size of plan.sizes) {
      bench.progress(`what ${counts(size)} use`);
      bySize.push({ size, ms: [], usage: (await step(pathsOf(size), { isCounted: true })).usage });
    }
    async function singleSteps(): Promise<number> {
      let sum = 0;
      for (const path of pathsOf(plan.processes)) sum += (await step([path])).ms;
      return sum;
    }
    const single: Way = { ms: [], measure: singleSteps };
    const curl: Way = { ms: [], measure: () => byCurl(service, pathsOf(plan.compared), bench) };
    const hasCurl = spawnSync('curl', ['--version']).status === 0;
    const steps = bySize.map(({ size, ms }): Way => ({ ms, measure: async () => (await step(pathsOf(size))).ms }));
    const ways = [...steps, single, ...(hasCurl ? [curl] : [])];
    await inTurns(bench, plan.rounds, ways, async ({ ms, measure }) => void ms.push(await measure()));
    return {
      figures: [
        ...bySize.flatMap((each) => figuresOfSize(each, bySize)),
        ...comparisons(bySize, curl.ms, single.ms, plan),
      ],
      leftOut: hasCurl ? [] : [{ name: 'a loop of curl', reason: 'There is no curl on this machine.' }],
    };
  },
};
