import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endWithTests } from './started-process.ts';

const run = promisify(execFile);

/** Restart modes: `fast` disconnects all clients; `immediate` stops like a crash, and recovers. */
export type RestartMode = 'fast' | 'immediate';

const bindirCommand = fileURLToPath(new URL('../../.ci/postgres-bindir', import.meta.url));

/** The folder with the programs of a PostgreSQL server; undefined if this user can run none. */
export function findPostgresPrograms(): string | undefined {
  const { status, stdout } = spawnSync('bash', [bindirCommand], { encoding: 'utf8' });
  if (status !== 0 || (process.getuid?.() === 0 && postgresUser() === undefined)) return undefined;
  return stdout.trim();
}

/** The user that runs the server if the tests run as root, which PostgreSQL rejects. */
function postgresUser(): number | undefined {
  const { status, stdout } = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : undefined;
}

/** PostgreSQL cannot choose a free port. These are below those that systems use for outgoing connections. */
const somePort = (): number => 20_000 + Math.floor(Math.random() * 12_000);

interface PostgresClusterOptions {
  readonly parent?: string;
  /** Makes the server a standby of this one. */
  readonly primary?: { readonly url: string };
}

export type PostgresCluster = Awaited<ReturnType<typeof startPostgresCluster>>;

/** A PostgreSQL server for one test, which may do anything with it. */
export async function startPostgresCluster(
  programs: string,
  { parent = tmpdir(), primary }: PostgresClusterOptions = {},
) {
  const folder = mkdtempSync(join(parent, 'workspace-postgres-'));
  const data = join(folder, 'data');
  const password = primary === undefined ? randomBytes(18).toString('hex') : new URL(primary.url).password;
  const owner = process.getuid?.() === 0 ? postgresUser() : undefined;
  const asOwner = (program: string, ...args: string[]) =>
    owner === undefined
      ? run(join(programs, program), args, { cwd: folder })
      : run('runuser', ['--user', 'postgres', '--', join(programs, program), ...args], { cwd: folder });

  const endAtOnce = (): void => {
    try {
      process.kill(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGQUIT');
    } catch {
      // The server is not running.
    }
    // The server takes a moment to end, and may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const forget = endWithTests(endAtOnce);

  // initdb reads a password only from a file.
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner !== undefined) for (const path of [folder, passwordFile]) chownSync(path, owner, statSync(path).gid);
  const access = ['--username', 'workspace', '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  if (primary === undefined)
    await asOwner('initdb', '--pgdata', data, ...access, '--encoding', 'UTF8', '--locale=C', '--no-sync');
  else {
    const copy = ['--dbname', primary.url, '--write-recovery-conf', '--checkpoint', 'fast', '--no-sync'];
    await asOwner('pg_basebackup', '--pgdata', data, ...copy);
  }
  rmSync(passwordFile);
  const settings = [
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    'max_connections = 100',
    // Data without an explicit flush should not be flushed by chance.
    "wal_writer_delay = '10s'",
  ];
  appendFileSync(join(data, 'postgresql.conf'), `\n${settings.join('\n')}\n`);

  const control = (...args: string[]) =>
    asOwner('pg_ctl', '--pgdata', data, '--log', join(folder, 'server.log'), '--wait', '--silent', ...args);
  for (let tries = 1; ; tries += 1) {
    const port = somePort();
    appendFileSync(join(data, 'postgresql.conf'), `port = ${port}\n`);
    try {
      await control('start');
      return {
        url: `postgres://workspace:${password}@127.0.0.1:${port}/postgres`,
        port,
        async restart(mode: RestartMode) {
          await control('--mode', mode, 'restart');
        },
        /** Stops the server like a crash. */
        async crash() {
          await control('--mode', 'immediate', 'stop');
        },
        /** Makes a standby a primary. */
        async promote() {
          await control('promote');
        },
        async remove() {
          // A crashed server is no longer running.
          await control('--mode', 'immediate', 'stop').catch(() => undefined);
          forget();
          rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
        },
      };
    } catch (error) {
      if (tries < 10) continue;
      forget();
      endAtOnce();
      throw error;
    }
  }
}
