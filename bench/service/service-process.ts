import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Bench } from '../benchmark.ts';
import type { Place } from './seed.ts';

/** The service as an operator starts it, or one of the variants that it is compared with. */
export const kinds = ['as installed', 'one commit per change', 'without a database'] as const;
export type Kind = (typeof kinds)[number];

export interface ServiceOptions {
  readonly kind?: Kind;
  /** In front of the PATH of the service. */
  readonly binFolder?: string;
  /** As shipped, if not given. Who asks for as much as the service can do with one token turns it off, and says so. */
  readonly rateLimit?: 'off';
}

export type RunningService = Awaited<ReturnType<typeof startService>>;

/** What the command writes first, and the variants too. */
export interface Listening {
  readonly base_url: string;
  readonly token: string;
  readonly workspace: string;
}

const command = join(import.meta.dirname, '../../bin/workspace-service.js');
const variant = join(import.meta.dirname, 'variant.ts');

/** Starts it as a process of its own, until the end of the benchmark. Its log goes to a file, at its default level. */
export async function startService({ atEnd }: Bench, place: Place, options: ServiceOptions = {}) {
  const { kind = 'as installed', binFolder, rateLimit } = options;
  const { data, databaseUrl } = place;
  const logFile = `${data}.log`;
  const log = await open(logFile, 'a');
  const unlimited = rateLimit === 'off' ? ['--rate-limit', '0'] : [];
  const installed = [command, 'serve', '--dev', '--json', '--port', '0', '--data', data, ...unlimited];
  const child = spawn(process.execPath, kind === 'as installed' ? installed : [variant, kind, data], {
    env: {
      PATH: [binFolder, process.env['PATH']].filter((folder) => folder !== undefined).join(delimiter),
      HOME: data,
      TMPDIR: tmpdir(),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    stdio: ['ignore', 'pipe', log.fd],
  });
  await log.close();
  const ended = once(child, 'close');
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    // A service that was interrupted at its work may take longer than anybody wants to wait for it.
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended.finally(() => clearTimeout(timer));
  }
  atEnd(stop);
  const firstLine = once(createInterface({ input: child.stdout ?? process.stdin }), 'line');
  const [line] = await Promise.race([firstLine, ended.then(() => [])]);
  if (line === undefined) {
    const written = await readFile(logFile, 'utf8');
    throw new Error(`The service ${kind} did not start. Its log: ${written.slice(-2_000)}`);
  }
  const { base_url: baseUrl, token, workspace } = JSON.parse(String(line)) as Listening;
  return { ...place, pid: child.pid ?? 0, baseUrl, token, workspace, stop };
}
