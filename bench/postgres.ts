import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

export type Postgres =
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'missing'; readonly reason: string };

export interface PostgresServer {
  readonly postgres: Postgres;
  stop(): Promise<void>;
}

const script = join(import.meta.dirname, '../.ci/with-postgres');

/** Tells the address, and goes on until nobody is at the other end of the pipe: also when this process was killed. */
const holder = 'echo "$TEST_DATABASE_URL"; read -r -u 3';

/** A server in a temporary folder of its own; one that the environment names is used as it is, and left running. */
export async function startPostgres(
  temporaryFolder: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<PostgresServer> {
  const given = environment['TEST_DATABASE_URL'];
  if (given !== undefined) return { postgres: { kind: 'running', url: given }, stop: async () => undefined };
  const child = spawn('bash', [script, 'bash', '-c', holder], {
    env: { PATH: process.env['PATH'], TMPDIR: temporaryFolder },
    // Ctrl-C reaches whoever uses it first, and only then the server.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [stdout, stderr, pipe] = [child.stdout ?? process.stdin, child.stderr ?? process.stdin, child.stdio[3]];
  const ended = Promise.all([text(stderr), once(child, 'close')]).then(
    ([errors]) => errors.trim(),
    (error: Error) => error.message,
  );
  // That the other end is gone shows in the end of the process.
  pipe?.on('error', () => undefined);
  const url = once(createInterface({ input: stdout }), 'line');
  return {
    postgres: await Promise.race([
      url.then(([line]): Postgres => ({ kind: 'running', url: String(line) })),
      ended.then((reason): Postgres => ({ kind: 'missing', reason })),
    ]),
    async stop() {
      pipe?.destroy();
      await ended;
    },
  };
}
