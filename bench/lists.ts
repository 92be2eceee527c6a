import { runStep } from './action-step.ts';
import { atMost, type Bench, type Benchmark, figure, inTurns, medianFigure } from './benchmark.ts';
import { memoryOf } from './process.ts';
import { openClient } from './service/request.ts';
import { addWorkspaces, onEachDatabase, seedLocks } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf, sumOf } from './statistics.ts';

const full = { locks: 100_000, rounds: 5 };
const small = { locks: 3_000, rounds: 1 };

/** As the action asks for them. */
const pageSize = 1_000;
const empty = 'empty';

const deepWhy =
  'a page is found by the path it begins after: a quarter is for noise, and reading past all before it would be many times';
const memoryWhy =
  'the service holds pages, not lists: what is above is what Node has not collected yet, however often the list is read';

/** How long each page took, of a list that is read from its beginning to its end. */
async function readList(service: RunningService, locks: number, signal: AbortSignal): Promise<readonly number[]> {
  const { ask, close } = openClient(service, signal);
  const pagesMs: number[] = [];
  let count = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor !== '' && { cursor }) });
    const askedAt = performance.now();
    const { body } = await ask({ path: `/locks?${query}`, statuses: [200] });
    // This is how the service answers (src/service/http/routes/lock-list.ts).
    const page = JSON.parse(body) as { readonly locks: readonly unknown[]; readonly next_cursor: string | null };
    pagesMs.push(performance.now() - askedAt);
    count += page.locks.length;
    cursor = page.next_cursor;
  }
  close();
  if (count !== locks) throw new Error(`The list has ${count} locks, and not ${locks}.`);
  return pagesMs;
}

/** The list as the service gives it, page by page. */
async function measurePages({ progress, signal }: Bench, where: string, service: RunningService, plan: typeof full) {
  progress(`${where}: the list, page by page`);
  const before = await memoryOf(service.pid);
  const lists: (readonly number[])[] = [];
  for (let round = 0; round < plan.rounds; round += 1) lists.push(await readList(service, plan.locks, signal));
  const after = await memoryOf(service.pid);

  const firsts = lists.flatMap((list) => list.slice(0, 1));
  const tenth = Math.ceil(plan.locks / pageSize / 10);
  // The last page may be short, and the first of all finds nothing prepared.
  const early = lists.flatMap((list) => list.slice(1, 1 + tenth));
  const late = lists.flatMap((list) => list.slice(-1 - tenth, -1));
  const all = lists.flat();
  const memory = figure(
    `${where}: memory of the service at its peak, above what it had before`,
    'MiB',
    after.peak - before.now,
    { limit: atMost(256, memoryWhy) },
  );
  return [
    medianFigure(`${where}: the first page of ${pageSize.toLocaleString('en-US')}`, 'ms', firsts, { shown: true }),
    figure(`${where}: a page`, 'ms', medianOf(all)),
    figure(`${where}: the whole list`, 'ms', medianOf(lists.map(sumOf))),
    figure(`${where}: a page of the last tenth over one of the first`, '×', medianOf(late) / medianOf(early), {
      limit: atMost(1.25, deepWhy),
    }),
    ...(process.platform === 'linux' ? [memory] : []),
  ];
}

/** The same list by a step of the action, beside a step that finds no lock. */
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
    figure(`${what}: memory at its peak, above a step that lists none`, 'MiB', above),
  ];
}

export const lists: Benchmark = {
  name: 'lists',
  what: 'A list of a hundred thousand locks: time of a page, and memory of the service and of the action.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    if (process.platform !== 'linux') {
      bench.leaveOut({ name: 'memory', reason: 'Only Linux tells what another process has held at most.' });
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
