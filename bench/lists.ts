import { mkdir } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { atMost, type Bench, type Benchmark, type Detail, type Figure, type LeftOut } from './benchmark.ts';
import { type BenchDatabase, databasesOf } from './service/databases.ts';
import { get } from './service/get.ts';
import { listingStep } from './service/listing-step.ts';
import { memoryOf } from './service/memory.ts';
import { seedLocks } from './service/seeded-locks.ts';
import { type RunningService, startService } from './service/services.ts';
import { addWorkspaces } from './service/workspaces.ts';
import { medianOf, percentilesOf } from './statistics.ts';

interface Plan {
  readonly locks: number;
  readonly rounds: number;
}

const full: Plan = { locks: 100_000, rounds: 5 };
const small: Plan = { locks: 3_000, rounds: 1 };

/** As the action asks for them. */
const pageSize = 1_000;
const empty = 'empty';

const deepWhy =
  'a page is found by the path it begins after: a quarter is for noise, and reading past all before it would be many times';
const serviceMemoryWhy =
  'the service holds pages, not lists: what is above is what Node has not collected yet, however often the list is read';

interface Page {
  readonly locks: readonly unknown[];
  readonly next_cursor: string | null;
}

/** How long each page took, of a list that is read from its beginning to its end. */
async function readList(service: RunningService, locks: number, signal: AbortSignal): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const pagesMs: number[] = [];
  let count = 0;
  try {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ limit: String(pageSize), ...(cursor !== '' && { cursor }) });
      const askedAt = performance.now();
      // This is how the service answers (src/service/http/routes/lock-list.ts).
      const page = (await get(service, `/v1/workspaces/${service.workspace}/locks?${query}`, signal, agent)) as Page;
      pagesMs.push(performance.now() - askedAt);
      count += page.locks.length;
      cursor = page.next_cursor;
    }
  } finally {
    agent.destroy();
  }
  if (count !== locks) throw new Error(`The list has ${count} locks, and not ${locks}.`);
  return pagesMs;
}

const middle = (values: readonly number[]): number => medianOf(values).median;

const rounds = (name: string, unit: string, values: readonly number[]): Detail => ({
  kind: 'rounds',
  name,
  unit,
  values,
});

const pages = (values: readonly number[]): Detail => ({
  kind: 'distribution',
  name: 'pages',
  unit: 'ms',
  percentiles: percentilesOf(values, [50, 90, 99, 100]),
});

const mebibytes = (bytes: number): number => bytes / 2 ** 20;

interface Lists {
  readonly service: RunningService;
  readonly figures: readonly Figure[];
}

/** The list as the service gives it, page by page. */
async function measurePages(
  bench: Bench,
  { name, createUrl }: BenchDatabase,
  { locks, rounds: number }: Plan,
): Promise<Lists> {
  const folder = join(bench.folder, name);
  const data = join(folder, 'data');
  const databaseUrl = await createUrl();
  bench.progress(`${name}: ${locks.toLocaleString('en-US')} locks`);
  await mkdir(data, { recursive: true });
  await seedLocks({ data, databaseUrl }, locks);
  const service = await startService({ kind: 'as installed', folder, databaseUrl });
  bench.atEnd(service.stop);

  bench.progress(`${name}: the list, page by page`);
  const before = await memoryOf(service.pid);
  const lists: (readonly number[])[] = [];
  for (let round = 0; round < number; round += 1) lists.push(await readList(service, locks, bench.signal));
  const after = await memoryOf(service.pid);

  const [coldest] = lists;
  const firsts = lists.flatMap(([first]) => (first === undefined ? [] : [first]));
  const tenth = Math.ceil(locks / pageSize / 10);
  // The last page may be short, and the first of all finds nothing prepared.
  const early = lists.flatMap((list) => list.slice(1, 1 + tenth));
  const late = lists.flatMap((list) => list.slice(-1 - tenth, -1));
  const where = `${name}, ${locks.toLocaleString('en-US')} locks`;
  return {
    service,
    figures: [
      {
        name: `${where}: the first page of ${pageSize.toLocaleString('en-US')}`,
        value: middle(firsts),
        unit: 'ms',
        inReadme: true,
        details: [rounds('rounds, beginning right after the start', 'ms', firsts)],
      },
      {
        name: `${where}: a page`,
        value: middle(lists.flat()),
        unit: 'ms',
        details: [pages(lists.flat())],
      },
      {
        name: `${where}: the whole list`,
        value: middle(lists.map((list) => list.reduce((sum, ms) => sum + ms, 0))),
        unit: 'ms',
      },
      {
        name: `${where}: a page of the last tenth over one of the first`,
        value: middle(late) / middle(early),
        unit: '×',
        limit: bench.quick || coldest === undefined ? undefined : atMost(1.25, deepWhy),
      },
      ...(before === undefined || after === undefined
        ? []
        : [
            {
              name: `${where}: memory of the service at its peak, above what it had before`,
              value: mebibytes(after.peak - before.now),
              unit: 'MiB',
              limit: bench.quick ? undefined : atMost(256, serviceMemoryWhy),
              details: [rounds('before, after, peak', 'MiB', [before.now, after.now, after.peak].map(mebibytes))],
            },
          ]),
    ],
  };
}

/** The same list by a step of the action, beside a step that finds no lock. */
async function measureStep(
  bench: Bench,
  service: RunningService,
  { locks, rounds: number }: Plan,
): Promise<readonly Figure[]> {
  const of: Record<'all' | 'none', { readonly ms: number[]; readonly peaks: number[] }> = {
    all: { ms: [], peaks: [] },
    none: { ms: [], peaks: [] },
  };
  for (let round = 1; round <= number; round += 1) {
    bench.progress(`a step of the action, round ${round} of ${number}`);
    for (const [key, workspace] of [
      ['all', service.workspace],
      ['none', empty],
    ] as const) {
      const { ms, peakBytes } = await listingStep(service, workspace, bench.folder, bench.signal);
      of[key].ms.push(ms);
      if (peakBytes !== undefined) of[key].peaks.push(mebibytes(peakBytes));
    }
  }
  const what = `a step that lists ${locks.toLocaleString('en-US')} locks`;
  return [
    {
      name: `${what}: time`,
      value: middle(of.all.ms),
      unit: 'ms',
      details: [rounds('rounds', 'ms', of.all.ms), rounds('without a lock to list', 'ms', of.none.ms)],
    },
    ...(of.all.peaks.length === 0
      ? []
      : [
          {
            name: `${what}: memory at its peak, above a step that lists none`,
            value: middle(of.all.peaks) - middle(of.none.peaks),
            unit: 'MiB',
            details: [
              rounds('at its peak', 'MiB', of.all.peaks),
              rounds('without a lock to list', 'MiB', of.none.peaks),
            ],
          },
        ]),
  ];
}

const noMemory: LeftOut = { name: 'memory', reason: 'Only Linux tells what another process has held at most.' };

export const lists: Benchmark = {
  name: 'lists',
  what: 'A list of a hundred thousand locks: time of a page, and memory of the service and of the action.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const { databases, leftOut } = await databasesOf(bench);
    const figures: Figure[] = [];
    for (const database of databases) {
      const { service, figures: ofPages } = await measurePages(bench, database, plan);
      figures.push(...ofPages);
      if (database.name !== 'SQLite') continue;
      await addWorkspaces(service.data, [empty], 'https://git.example.com/empty.git');
      figures.push(...(await measureStep(bench, service, plan)));
    }
    return { figures, leftOut: [...leftOut, ...(process.platform === 'linux' ? [] : [noMemory])] };
  },
};
