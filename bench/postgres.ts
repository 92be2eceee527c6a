import { spawn } from 'node:child_process';
import { join } from 'node:path';

export type Postgres =
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'missing'; readonly reason: string };

export interface PostgresServer {
  readonly postgres: Postgres;
  stop(): Promise<void>;
}

const script = join(import.meta.dirname, '../.ci/with-postgres');

/** Tells the address, and goes on until nobody is at the other end of the wire: also when this process was killed. */
const holder = `
  console.log(process.env.TEST_DATABASE_URL);
  new net.Socket({ fd: 3 }).resume().on('close', () => process.exit());
`;

/** A server in a temporary folder of its own; one that the environment names is used as it is, and left running. */
export async function startPostgres(
  temporaryFolder: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<PostgresServer> {
  const given = environment['TEST_DATABASE_URL'];
  if (given !== undefined) return { postgres: { kind: 'running', url: given }, stop: async () => undefined };
  const child = spawn('bash', [script, process.execPath, '--eval', holder], {
    env: { PATH: process.env['PATH'], TMPDIR: temporaryFolder },
    // Ctrl-C reaches whoever uses it first, and only then the server.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', () => resolve(errors.trim()));
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const url = new Promise<string>((resolve) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [line, rest] = output.split('\n');
      if (rest !== undefined && line !== undefined) resolve(line);
    });
  });
  const wire = child.stdio[3];
  // Whether the other end is still there is seen by the end of the process.
  wire?.on('error', () => undefined);
  return {
    postgres: await Promise.race([
      url.then((url): Postgres => ({ kind: 'running', url })),
      ended.then((reason): Postgres => ({ kind: 'missing', reason })),
    ]),
    async stop() {
      wire?.destroy();
      await ended;
    },
  };
}
