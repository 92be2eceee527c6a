import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServiceProcess } from '../../test/support/service-process.ts';
import type { Bench } from '../benchmark.ts';
import { newPlace, type Place } from './seed.ts';

/** The service as an operator starts it, or one of the variants that it is compared with. */
export type Kind = 'as installed' | 'one commit per change' | 'without a database';

export interface ServiceOptions {
  readonly kind?: Kind;
  /** A new one on SQLite, if not given. */
  readonly place?: Place;
  /** The PATH of the service. */
  readonly path?: string;
  /** As shipped, if not given. Who asks for as much as the service can do with one token turns it off, and says so. */
  readonly rateLimit?: 'off';
}

export type RunningService = Awaited<ReturnType<typeof startService>>;

/** Starts it until the end of the benchmark. Its log goes to a file, at its default level. */
export async function startService(
  bench: Bench,
  { kind = 'as installed', path = process.env['PATH'], rateLimit, ...more }: ServiceOptions = {},
) {
  const place = more.place ?? (await newPlace(bench));
  const { data, databaseUrl } = place;
  const log = `${data}.log`;
  const starting = startServiceProcess({
    folder: data,
    ...(kind !== 'as installed' && { entry: join(import.meta.dirname, 'variant.ts') }),
    args: kind === 'as installed' ? (rateLimit === 'off' ? ['--rate-limit', '0'] : []) : [kind],
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
    throw new Error(`The service ${kind} did not start. Its log: ${written.slice(-2_000)}`, { cause });
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
