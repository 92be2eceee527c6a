import { spawnSync } from 'node:child_process';
import { type ServiceProcess, startServiceProcess } from '../test/support/service-process.ts';
import { atLeast, atMost, type Bench, type Benchmark, type Chart, type Figure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { byAction } from './locks/by-action.ts';
import { byCurl } from './locks/by-curl.ts';
import { type Counted, counted } from './locks/counted.ts';
import { medianOf } from './statistics.ts';

interface Plan {
  readonly rounds: number;
  /** How many paths a step locks, in rising order. The first is one path. */
  readonly sizes: readonly number[];
  /** With so many, the step is compared with the other ways. */
  readonly compared: number;
  /** So many processes of the action are started for one path each. */
  readonly processes: number;
  /** The limits are about 500 and 5,000 paths: among a few, the start of the process is most of the time. */
  readonly judged: boolean;
}

const full: Plan = { rounds: 3, sizes: [1, 50, 500, 5_000], compared: 500, processes: 20, judged: true };
const small: Plan = { rounds: 1, sizes: [1, 5, 50], compared: 5, processes: 2, judged: false };

/** Short, because Linux takes no variable of more than 128 KB, and the paths of a step are in one. */
const pathsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `Content/Maps/L${String(number).padStart(4, '0')}.umap`);

const counts = (number: number): string => (number === 1 ? '1 path' : `${number.toLocaleString('en-US')} paths`);

interface OfSize {
  readonly size: number;
  readonly ms: number[];
  readonly used: Counted;
}

interface Times {
  readonly step: readonly OfSize[];
  readonly curl: readonly number[];
  readonly processes: readonly number[];
}

async function measureAll(service: ServiceProcess, plan: Plan, bench: Bench, hasCurl: boolean): Promise<Times> {
  const step: OfSize[] = [];
  for (const size of plan.sizes) {
    bench.progress(`what ${counts(size)} use`);
    step.push({ size, ms: [], used: await counted(service, pathsOf(size), bench) });
  }
  const curl: number[] = [];
  const processes: number[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const { size, ms } of step) {
      bench.progress(`round ${round} of ${plan.rounds}: ${counts(size)} in one step`);
      ms.push(await byAction(service, pathsOf(size), bench));
    }
    bench.progress(`round ${round} of ${plan.rounds}: ${plan.processes} steps with one path each`);
    let sum = 0;
    for (const path of pathsOf(plan.processes)) sum += await byAction(service, [path], bench);
    processes.push(sum);
    if (!hasCurl) continue;
    bench.progress(`round ${round} of ${plan.rounds}: ${counts(plan.compared)} by a loop of curl`);
    curl.push(await byCurl(service, pathsOf(plan.compared), bench));
  }
  return { step, curl, processes };
}

const middle = (values: readonly number[]): number => medianOf(values).median;

/** What each further path costs: the start of the two processes, and all that there is once, is left to the first. */
const perPath = ({ size, ms }: OfSize, [one]: readonly OfSize[]): number =>
  one === undefined || size === 1 ? middle(ms) : (middle(ms) - middle(one.ms)) / (size - 1);

function ofSize(each: OfSize, all: readonly OfSize[]): readonly Figure[] {
  const { size, ms, used } = each;
  const what = counts(size);
  return [
    {
      name: `${what}: time`,
      value: middle(ms),
      unit: 'ms',
      inReadme: true,
      details: [{ kind: 'rounds', name: 'rounds', unit: 'ms', values: ms }],
    },
    ...(size === 1 ? [] : [{ name: `${what}: for each after the first`, value: perPath(each, all), unit: 'ms' }]),
    { name: `${what}: requests`, value: used.requests, unit: '' },
    { name: `${what}: connections`, value: used.connections, unit: '' },
    { name: `${what}: memory at its peak`, value: used.peakBytes / 2 ** 20, unit: 'MiB', inReadme: true },
  ];
}

const growthWhy =
  'the cost of a path must not grow with their number: a quarter is for the noise of a machine, and one that grew with it would be up to ten times as much';

/** The ways beside each other, over the same number of paths. */
function comparisons({ step, curl, processes }: Times, plan: Plan): readonly Figure[] {
  const compared = step.find(({ size }) => size === plan.compared);
  const largest = step.at(-1);
  if (compared === undefined || largest === undefined) return [];
  const what = counts(plan.compared);
  const ms = middle(compared.ms);
  return [
    ...(curl.length === 0
      ? []
      : [
          {
            name: `${what}: a loop of curl over one step`,
            value: middle(curl) / ms,
            unit: '×',
            limit: plan.judged ? atLeast(budgets.locksRatio, 'design §6') : undefined,
            details: [{ kind: 'rounds' as const, name: 'curl', unit: 'ms', values: curl }],
          },
        ]),
    {
      name: `${what}: one step for each path over one step`,
      inReadme: true,
      value: (middle(processes) / plan.processes) * (plan.compared / ms),
      unit: '×',
      details: [{ kind: 'rounds', name: `${plan.processes} such steps, scaled`, unit: 'ms', values: processes }],
    },
    {
      name: `a path among ${counts(largest.size)} over one among ${plan.compared}`,
      value: perPath(largest, step) / perPath(compared, step),
      unit: '×',
      limit: plan.judged ? atMost(budgets.growthRatio, growthWhy) : undefined,
    },
  ];
}

const charts = (step: readonly OfSize[]): readonly Chart[] => [
  {
    title: 'What a path costs, by how many of them one step locks',
    x: { label: 'paths', scale: 'logarithmic' },
    y: { label: 'ms for each path', scale: 'logarithmic' },
    lines: [
      { name: 'all of the time', points: step.map(({ size, ms }) => [size, middle(ms) / size]) },
      {
        name: 'without the first path',
        points: step.filter(({ size }) => size > 1).map((each) => [each.size, perPath(each, step)]),
      },
    ],
  },
  {
    title: 'Memory at its peak, by how many paths one step locks',
    x: { label: 'paths', scale: 'logarithmic' },
    y: { label: 'MiB', scale: 'linear' },
    lines: [
      { name: 'the larger of both processes', points: step.map(({ size, used }) => [size, used.peakBytes / 2 ** 20]) },
    ],
  },
];

export const locks: Benchmark = {
  name: 'locks',
  what: 'Paths that one step of the action locks and its post-step releases, beside a loop of curl and a step for each.',
  async measure(bench) {
    const service = await startServiceProcess();
    bench.atEnd(() => service.stop());
    const plan = bench.quick ? small : full;
    const hasCurl = spawnSync('curl', ['--version']).status === 0;
    const times = await measureAll(service, plan, bench, hasCurl);
    return {
      figures: [...times.step.flatMap((each) => ofSize(each, times.step)), ...comparisons(times, plan)],
      charts: charts(times.step),
      leftOut: hasCurl ? [] : [{ name: 'a loop of curl', reason: 'There is no curl on this machine.' }],
    };
  },
};
