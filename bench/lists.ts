import { runStep } from './action-step.ts';
import { atMost, type Bench, type Benchmark, figure, inTurns, medianFigure } from './benchmark.ts';
import { memoryOf } from './process.ts';
import { openClient } from './service/request.ts';
import { addWorkspaces, onEachDatabase, seedLocks } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf, sumOf } from './statistics.ts';

const full = { locks: 100_000, rounds: 5 };
const small = { locks: 3_000, rounds: 1 };

/** The page size that the action requests. */
const pageSize = 1_000;
const empty = 'empty';

const deepWhy =
  'a page is found by the path before it: 25 % is for noise; skipping all earlier locks would take many times as long';
const memoryWhy =
  'the service keeps pages in memory, not lists: the rest is garbage not yet collected, however often the list is read';

/** Reads the complete list, and returns the time of each page. */
async function readList(service: RunningService, locks: number, signal: AbortSignal): Promise<readonly number[]> {
  const { ask, close } = openClient(service, signal);
  const pagesMs: number[] = [];
  let count = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor !== '' && { cursor }) });
    const askedAt = performance.now();
    const { body } = await ask({ path: `/locks?${query}`, statuses: [200] });
    // The response is defined in src/service/api/lock-list.ts.
    const page = JSON.parse(body) as { readonly locks: readonly unknown[]; readonly next_cursor: string | null };
    pagesMs.push(performance.now() - askedAt);
    count += page.locks.length;
    cursor = page.next_cursor;
  }
  close();
  if (count !== locks) throw new Error(`The list has ${count} locks, expected ${locks}.`);
  return pagesMs;
}

/** Measures the list endpoint of the service, page by page. */
async function measurePages({ progress, signal }: Bench, where: string, service: RunningService, plan: typeof full) {
  progress(`${where}: reading the list page by page`);
  const before = await memoryOf(service.pid);
  const lists: (readonly number[])[] = [];
  for (let round = 0; round < plan.rounds; round += 1) lists.push(await readList(service, plan.locks, signal));
  const after = await memoryOf(service.pid);

  const firsts = lists.flatMap((list) => list.slice(0, 1));
  const tenth = Math.ceil(plan.locks / pageSize / 10);
  // Without the first page, which finds cold caches, and the last, which may be short.
  const early = lists.flatMap((list) => list.slice(1, 1 + tenth));
  const late = lists.flatMap((list) => list.slice(-1 - tenth, -1));
  const all = lists.flat();
  const memory = figure(
    `${where}: peak memory of the service, above its memory before`,
    'MiB',
    after.peak - before.now,
    { limit: atMost(256, memoryWhy) },
  );
  return [
    medianFigure(`${where}: the first page of ${pageSize.toLocaleString('en-US')}`, 'ms', firsts),
    figure(`${where}: a page`, 'ms', medianOf(all)),
    figure(`${where}: the complete list`, 'ms', medianOf(lists.map(sumOf))),
    figure(`${where}: a page of the last tenth relative to one of the first`, '×', medianOf(late) / medianOf(early), {
      limit: atMost(1.25, deepWhy),
    }),
    ...(process.platform === 'linux' ? [memory] : []),
  ];
}

/** Measures a step of the action that lists all locks, and one that finds none. */
async function measureStep(bench: Bench, { baseUrl, token, workspace }: RunningService, plan: typeof full) {
  const all = { workspace, ms: [] as number[], peaks: [] as number[] };
  const none: typeof all = { workspace: empty, ms: [], peaks: [] };
  await inTurns(bench, plan.rounds, [all, none], async (of) => {
    const inputs = { operation: 'list-locks', 'base-url': baseUrl, token, workspace: of.workspace };
    const { ms, peakBytes } = await runStep(inputs, bench, { isCounted: true });
    of.ms.push(ms);
    of.peaks.push(peakBytes / 2 ** 20);
  });
  const what = `a step that lists ${plan.locks.toLocaleString('en-US')} locks`;
  const above = medianOf(all.peaks) - medianOf(none.peaks);
  return [
    medianFigure(`${what}: time`, 'ms', all.ms),
    figure(`${what}: peak memory, above a step that lists none`, 'MiB', above),
  ];
}

export const lists: Benchmark = {
  name: 'lists',
  what: 'A list of 100,000 locks: time per page, and memory of the service and of the action.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    if (process.platform !== 'linux') {
      bench.leaveOut({ name: 'memory', reason: 'Only Linux reports the peak memory of another process.' });
    }
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      const where = `${name}, ${plan.locks.toLocaleString('en-US')} locks`;
      bench.progress(where);
      const place = await createPlace();
      await seedLocks(place, plan.locks);
      const service = await startService(bench, { place });
      const pages = await measurePages(bench, where, service, plan);
      if (name !== 'SQLite') return pages;
      await addWorkspaces(service, [empty]);
      return [...pages, ...(await measureStep(bench, service, plan))];
    });
  },
};
