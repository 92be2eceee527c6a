import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { createEndings } from './endings.ts';
import { loadNow, thisMachine, wasBusy } from './machine.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { type BenchmarkResult, form, type Results } from './results.ts';

export interface Run {
  readonly quick: boolean;
  readonly signal: AbortSignal;
  progress(text: string): void;
}

/** Rejected when the run is to stop. The work itself goes on until what it uses is taken from under it. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Has everything that is started from now on make its temporary files in there. */
function moveTemporaryFiles(folder: string): { undo(): void } {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = folder;
  return {
    undo() {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    },
  };
}

const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Runs them one after the other. Nothing of them is left at the end, also when the run was stopped. */
export async function runAll(benchmarks: readonly Benchmark[], { quick, signal, progress }: Run): Promise<Results> {
  const machine = thisMachine();
  const date = new Date().toISOString();
  const loadBefore = loadNow();
  if (wasBusy(machine, loadBefore)) {
    progress(`The machine has other work to do (load ${loadBefore.toFixed(1)}): it will show in the figures.`);
  }
  const ordinary = tmpdir();
  const folder = await mkdtemp(join(ordinary, 'bench-'));
  const afterAll = createEndings(progress);
  afterAll.add(() => remove(folder));
  let server: Promise<PostgresServer> | undefined;
  afterAll.add(async () => (await server)?.stop());

  async function runOne({ name, what, measure }: Benchmark): Promise<BenchmarkResult> {
    const startedAt = performance.now();
    const seconds = (): number => (performance.now() - startedAt) / 1_000;
    const tell = (text: string): void => progress(`${name}: ${text}`);
    const own = join(folder, name);
    await mkdir(own);
    const temporary = moveTemporaryFiles(own);
    const after = createEndings(tell);
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
        async postgres() {
          // Not in the folder of this run, which a server under a user of its own cannot enter.
          server ??= startPostgres(ordinary);
          return (await server).postgres;
        },
      });
      return { name, what, kind: 'measured', ...(await unlessAborted(signal, work)), seconds: seconds() };
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      tell(`failed. ${error instanceof Error ? (error.stack ?? why) : why}`);
      return { name, what, kind: 'failed', why, seconds: seconds() };
    } finally {
      await after.run();
      temporary.undo();
    }
  }

  try {
    const results: BenchmarkResult[] = [];
    for (const benchmark of benchmarks) results.push(await runOne(benchmark));
    return { form, date, quick, machine, loadBefore, loadAfter: loadNow(), benchmarks: results };
  } finally {
    await afterAll.run();
  }
}
