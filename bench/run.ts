import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { loadNow, thisMachine } from './machine.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import type { BenchmarkResult, Results } from './results.ts';

export interface Run {
  readonly quick: boolean;
  readonly signal: AbortSignal;
  progress(text: string): void;
}

/** What is to be done at the end, the last first. What fails keeps nothing else from being done. */
function createEndings(): { add(work: () => unknown): void; run(): Promise<void> } {
  const works: (() => unknown)[] = [];
  return {
    add: (work) => void works.push(work),
    async run() {
      for (let work = works.pop(); work !== undefined; work = works.pop()) {
        try {
          await work();
        } catch (error) {
          process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
        }
      }
    },
  };
}

/** Rejected when the run is to stop. The work itself goes on until what it uses is taken from under it. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Runs them one after the other. Nothing of them is left at the end, also when the run was stopped. */
export async function runAll(benchmarks: readonly Benchmark[], { quick, signal, progress }: Run): Promise<Results> {
  const machine = thisMachine();
  const date = new Date().toISOString();
  const loadBefore = loadNow();
  const ordinary = tmpdir();
  const folder = await mkdtemp(join(ordinary, 'bench-'));
  // What they start makes its temporary folders in here, and is gone with it.
  process.env['TMPDIR'] = folder;
  const afterAll = createEndings();
  let server: Promise<PostgresServer> | undefined;

  async function runOne({ name, what, measure }: Benchmark): Promise<BenchmarkResult> {
    const startedAt = performance.now();
    const after = createEndings();
    const seconds = (): number => (performance.now() - startedAt) / 1_000;
    const tell = (text: string): void => progress(`${name}: ${text}`);
    const own = join(folder, name);
    try {
      await mkdir(own);
      tell(what);
      const measured = await unlessAborted(
        signal,
        measure({
          quick,
          signal,
          folder: own,
          progress: tell,
          atEnd: after.add,
          async postgres() {
            // Not in the folder of this run, which a server under a user of its own cannot enter.
            server ??= startPostgres(ordinary);
            return (await server).postgres;
          },
        }),
      );
      return { name, what, seconds: seconds(), kind: 'measured', ...measured };
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      tell(`failed. ${error instanceof Error ? (error.stack ?? why) : why}`);
      return { name, what, seconds: seconds(), kind: 'failed', why };
    } finally {
      await after.run();
    }
  }

  afterAll.add(async () => {
    process.env['TMPDIR'] = ordinary;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  afterAll.add(async () => (await server)?.stop());
  try {
    const results: BenchmarkResult[] = [];
    for (const benchmark of benchmarks) results.push(await runOne(benchmark));
    return { date, quick, machine, loadBefore, loadAfter: loadNow(), benchmarks: results };
  } finally {
    await afterAll.run();
  }
}
