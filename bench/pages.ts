import { setTimeout as sleep } from 'node:timers/promises';
import { formatNumber } from '../src/interface/format.ts';
import { atMost, type Bench, type Benchmark, type Figure, figure, medianFigure } from './benchmark.ts';
import { memoryOf } from './process.ts';
import { runLoad } from './service/load.ts';
import { newPlace, seedLocks } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { percentileOf } from './statistics.ts';

const full = { sizes: [1_000, 100_000, 1_000_000], loads: 30, ms: 10_000 };
const small = { sizes: [1_000], loads: 2, ms: 500 };

/** With more, the quota refuses the locks of the load. */
const mostWithLoad = 100_000;
const openPages = 10;
const clients = 4;

const pageWhy = 'a page reads the rows that it shows, however many locks there are';
const besideWhy = 'an open page is loaded every three seconds';

/** Signs in like a browser, and returns a function that loads pages. */
async function signIn({ baseUrl, token }: RunningService, signal: AbortSignal) {
  const { origin } = new URL(baseUrl);
  const signedIn = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, accept: 'text/html' },
    body: new URLSearchParams({ token, to: '/' }),
    signal,
  });
  const [cookie = ''] = signedIn.headers.getSetCookie().map((text) => text.split(';')[0]);
  return async (path: string, more?: AbortSignal): Promise<Response> => {
    const signals = AbortSignal.any([signal, ...(more === undefined ? [] : [more])]);
    const response = await fetch(origin + path, { headers: { cookie, accept: 'text/html' }, signal: signals });
    if (!response.ok) throw new Error(`The response to ${path} was ${response.status}: ${await response.text()}`);
    return response;
  };
}

type Load = Awaited<ReturnType<typeof signIn>>;

async function timesOf(load: Load, path: string, loads: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < loads; round += 1) {
    const askedAt = performance.now();
    await (await load(path)).text();
    times.push(performance.now() - askedAt);
  }
  return times;
}

/** Does what page.js does until the signal. */
async function keepOpen(load: Load, path: string, closed: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const startedAt = performance.now();
      await (await load(path, closed)).text();
      await sleep(Math.max(3_000, (performance.now() - startedAt) * 4), undefined, { signal: closed });
    }
  } catch (error) {
    if (!closed.aborted) throw error;
  }
}

/** The 99th percentile of requests for locks without pages, and with open ones. */
async function measureBeside(service: RunningService, load: Load, ms: number, where: string) {
  const plan = { ask: 'for locks, renewed and released', clients, warmUpMs: ms / 5, ms, targets: [service] } as const;
  const p99 = async (name: string) => percentileOf((await runLoad({ ...plan, name })).latenciesMs, 99);
  const alone = await p99('alone');
  const before = await memoryOf(service.pid);
  const closing = new AbortController();
  const folder = `/workspaces/${service.workspace}/locks`;
  const pages = Array.from({ length: openPages }, () => keepOpen(load, folder, closing.signal));
  const beside = await p99('beside');
  closing.abort();
  await Promise.all(pages);
  const memory = figure(
    `${where}: peak memory with open pages, above that before`,
    'MiB',
    (await memoryOf(service.pid)).peak - before.peak,
    {
      limit: atMost(64, pageWhy),
    },
  );
  return [
    ...(process.platform === 'linux' ? [memory] : []),
    figure(`${where}: p99 of a lock, no page open`, 'ms', alone),
    figure(`${where}: p99 of a lock next to ${openPages} open pages`, 'ms', beside),
    figure(`${where}: the same, relative to no page`, '×', beside / alone, { limit: atMost(1.5, besideWhy) }),
  ];
}

async function measureSize(bench: Bench, count: number, { loads, ms }: typeof full): Promise<readonly Figure[]> {
  const where = `${formatNumber(count)} locks`;
  bench.progress(where);
  const place = await newPlace(bench);
  await seedLocks(place, count);
  const service = await startService(bench, { place, rateLimit: 'off' });
  const load = await signIn(service, bench.signal);
  const list = `/workspaces/${service.workspace}/locks`;
  const figures: Figure[] = [];
  for (const [name, path] of [
    ['the list', list],
    ['a search without a match', `${list}?search=zebra`],
    ['the start page', '/'],
    ['the locks of an owner', '/my-locks'],
  ] as const) {
    await timesOf(load, path, 2);
    const times = await timesOf(load, path, loads);
    figures.push(medianFigure(`${where}: ${name}`, 'ms', times, { limit: atMost(20, pageWhy) }));
  }
  if (count <= mostWithLoad) figures.push(...(await measureBeside(service, load, ms, where)));
  await service.stop();
  return figures;
}

export const pages: Benchmark = {
  name: 'pages',
  what: 'Pages of 1,000 to 1,000,000 locks: their time, memory, and the locks that are taken while ten are open.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const figures: Figure[] = [];
    for (const count of plan.sizes) figures.push(...(await measureSize(bench, count, plan)));
    return figures;
  },
};
