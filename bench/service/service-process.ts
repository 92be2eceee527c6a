import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFile, startServiceProcess } from '../../test/support/service-process.ts';
import type { Bench } from '../benchmark.ts';
import { newPlace, type Place } from './seed.ts';

export interface ServiceOptions {
  /** A variant for comparison. The default is the service as an operator starts it. */
  readonly variant?: 'one commit per change';
  /** The default is a new one on SQLite. */
  readonly place?: Place;
  /** The PATH of the service. */
  readonly path?: string;
  /** Benchmarks that load the service with a single token turn the limit off, and say so in their figures. */
  readonly rateLimit?: 'off';
}

export type RunningService = Awaited<ReturnType<typeof startService>>;

/** Starts a service, which runs until the end of the benchmark. Its log goes to a file, at the default level. */
export async function startService(
  bench: Bench,
  { variant, path = process.env['PATH'], rateLimit, ...more }: ServiceOptions = {},
) {
  const place = more.place ?? (await newPlace(bench));
  const { data, databaseUrl } = place;
  const log = `${data}.log`;
  const starting = startServiceProcess({
    folder: data,
    entry: variant === undefined ? commandFile : join(import.meta.dirname, 'variant.ts'),
    args: variant === undefined && rateLimit === 'off' ? ['--rate-limit', '0'] : [],
    through: ['sh', '-c', 'exec "$@" 2>>"$0"', log],
    environment: {
      PATH: path,
      HOME: data,
      TMPDIR: tmpdir(),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
  });
  const started = starting.catch(async (cause: unknown): Promise<never> => {
    const written = await readFile(log, 'utf8');
    throw new Error(`The service did not start. Its log: ${written.slice(-2_000)}`, { cause });
  });
  bench.atEnd(() =>
    starting.then(
      ({ stop }) => stop(),
      () => undefined,
    ),
  );
  const { baseUrl, token, workspace, command, stop } = await started;
  return { ...place, baseUrl, token, workspace, stop, pid: command.pid };
}
