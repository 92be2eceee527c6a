import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessAborted } from '../src/interface/timers.ts';
import { findPostgresPrograms, type PostgresCluster, startPostgresCluster } from '../test/support/postgres-cluster.ts';
import type { Bench, Benchmark, Figure, LeftOut } from './benchmark.ts';
import { type BenchmarkResult, form, loadNow, type Results, thisMachine, wasBusy } from './results.ts';

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Runs cleanup work in reverse order. A failure is reported, and does not stop the remaining work. */
function createCleanup(tell: (failure: string) => void) {
  const works: (() => unknown)[] = [];
  let isOver = false;

  async function runAll(): Promise<void> {
    isOver = true;
    for (let work = works.pop(); work !== undefined; work = works.pop()) {
      await Promise.try(work).catch((error: Error) => tell(error.message));
    }
  }
  return {
    add(work: () => unknown): void {
      works.push(work);
      // Work that is added during or after the cleanup runs at once.
      if (isOver) void runAll();
    },
    runAll,
  };
}

/** Starts a server, or uses the one of TEST_DATABASE_URL, which keeps running. `reason` is set if there is none. */
async function startPostgres(folder: string): Promise<Partial<PostgresCluster> & { readonly reason?: string }> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined) return { url };
  const programs = findPostgresPrograms();
  if (programs === undefined) return { reason: 'PostgreSQL is not installed, or this user cannot start it.' };
  return startPostgresCluster(programs, { parent: folder }).catch((error: Error) => ({ reason: error.message }));
}

const withoutLimit = (figure: Figure): Figure =>
  figure.limit?.kind === 'exactly' ? figure : { ...figure, limit: undefined };

/** Runs the benchmarks one after the other. Removes everything that they created, even if the run is stopped. */
export async function runAll(
  benchmarks: readonly Benchmark[],
  { quick, signal, progress }: Pick<Bench, 'quick' | 'signal' | 'progress'>,
): Promise<Results> {
  const machine = thisMachine();
  const date = new Date().toISOString();
  const loadBefore = loadNow();
  if (wasBusy(machine, loadBefore)) {
    progress(`The machine is not idle (load ${loadBefore.toFixed(1)}), which affects the figures.`);
  }
  const systemFolder = tmpdir();
  const folder = await mkdtemp(join(systemFolder, 'bench-'));
  process.env['TMPDIR'] = folder;
  const afterAll = createCleanup(progress);
  afterAll.add(() => remove(folder));
  let server: ReturnType<typeof startPostgres> | undefined;
  afterAll.add(async () => (await server)?.remove?.());

  async function runOne({ name, what, isExact, measure }: Benchmark): Promise<BenchmarkResult> {
    const startedAt = performance.now();
    const seconds = (): number => (performance.now() - startedAt) / 1_000;
    const tell = (text: string): void => progress(`${name}: ${text}`);
    const own = join(folder, name);
    await mkdir(own);
    const leftOut: LeftOut[] = [];
    const after = createCleanup(tell);
    after.add(() => remove(own));
    try {
      tell(what);
      signal.throwIfAborted();
      const work = measure({
        quick,
        signal,
        folder: own,
        progress: tell,
        atEnd: after.add,
        leaveOut: (what) => void leftOut.push(what),
        async postgres() {
          // Not in the folder of this run: a server that runs as a different user cannot enter it.
          server ??= startPostgres(systemFolder);
          const { url, reason } = await server;
          if (reason !== undefined) leftOut.push({ name: 'PostgreSQL', reason });
          return url;
        },
      });
      const figures = await unlessAborted(work, signal);
      const judged = quick && !isExact ? figures.map(withoutLimit) : figures;
      return { name, what, kind: 'measured', figures: judged, leftOut, seconds: seconds() };
    } catch (error) {
      signal.throwIfAborted();
      const { message: reason, stack = reason } = error instanceof Error ? error : new Error(String(error));
      tell(`failed. ${stack}`);
      return { name, what, kind: 'failed', reason, seconds: seconds() };
    } finally {
      await after.runAll();
    }
  }

  try {
    const results: BenchmarkResult[] = [];
    for (const benchmark of benchmarks) results.push(await runOne(benchmark));
    return { form, date, quick, machine, loadBefore, loadAfter: loadNow(), benchmarks: results };
  } finally {
    await afterAll.runAll();
  }
}
