import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The service as an operator starts it, or one of the variants that it is compared with. */
export type Kind = 'as installed' | 'one commit per change' | 'without a database';

export interface ServiceOptions {
  readonly kind: Kind;
  /** For its data and its log; made where there is none. */
  readonly folder: string;
  /** SQLite in the folder, when there is none. */
  readonly databaseUrl?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv;
  /** As shipped, if not given. Who asks for as much as the service can do with one token turns it off, and says so. */
  readonly rateLimit?: 'off' | undefined;
  /** Further flags of `serve`. */
  readonly args?: readonly string[];
}

export interface RunningService {
  readonly pid: number;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  readonly workspace: string;
  readonly data: string;
  stop(): Promise<void>;
}

interface Listening {
  readonly base_url: string;
  readonly token: string;
  readonly workspace: string;
}

const command = join(import.meta.dirname, '../../bin/workspace-service.js');
const variant = join(import.meta.dirname, 'variant.ts');

function argumentsOf({ kind, rateLimit, args = [] }: ServiceOptions, data: string): readonly string[] {
  const limit = rateLimit === 'off' ? ['--rate-limit', '0'] : [];
  switch (kind) {
    case 'as installed':
      return [command, 'serve', '--dev', '--json', '--port', '0', '--data', data, ...limit, ...args];
    case 'one commit per change':
      return [variant, '--data', data, 'one-commit'];
    case 'without a database':
      return [variant, '--data', data, 'without-database'];
  }
}

async function firstLineOf(stream: Readable | null): Promise<string | undefined> {
  if (stream === null) return undefined;
  const [line] = await once(createInterface({ input: stream }), 'line');
  return String(line);
}

/** As a process of its own. Its log goes to a file, at the level that it has by itself. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { folder, databaseUrl, environment = {} } = options;
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  const logFile = join(folder, 'service.log');
  const log = await open(logFile, 'a');
  const child = spawn(process.execPath, argumentsOf(options, data), {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      TMPDIR: tmpdir(),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...environment,
    },
    stdio: ['ignore', 'pipe', log.fd],
  });
  await log.close();
  const ended = once(child, 'close');
  const first = await Promise.race([firstLineOf(child.stdout), ended.then(() => undefined)]);
  if (first === undefined) {
    const said = await readFile(logFile, 'utf8');
    throw new Error(`The service ${options.kind} did not start. It said: ${said.slice(-2_000)}`);
  }
  // The command's own first line has this form, and that of the variants too.
  const { base_url, token, workspace } = JSON.parse(first) as Listening;
  return {
    pid: child.pid ?? 0,
    baseUrl: base_url,
    token,
    workspace,
    data,
    async stop() {
      child.kill('SIGTERM');
      // A service that was interrupted at its work may take longer than anybody wants to wait for it.
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended.finally(() => clearTimeout(timer));
    },
  };
}
