import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../bin/workspace-service.js', import.meta.url));

/** A generous limit: it only ends a test whose process hangs. */
const timeoutMs = 60_000;

export interface CommandOptions {
  /** The data folder. A command such as `--help` needs none. */
  readonly folder?: string;
  /** The environment of the process in addition to PATH and HOME: nothing else comes from that of the tests. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** A different program for Node.js to run. */
  readonly entry?: string;
  /** A program with its arguments that becomes the command: it must not start the command as a child. */
  readonly through?: readonly string[];
}

/** The end of a process: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

export interface RunningCommand {
  readonly pid: number;
  ended(): Promise<Ending>;
  stdout(): string;
  stderr(): string;
  /** The first line on stdout that the test accepts; fails if the process ends before it. */
  line(accept: (line: string) => boolean): Promise<string>;
  /** The first accepted line on stderr, which has the log. */
  logLine(accept: (line: string) => boolean): Promise<string>;
  signal(signal: NodeJS.Signals): void;
}

export interface CommandResult {
  readonly code: Ending;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();

/** Ends all processes of a failed test, which must not outlive it: the test runner sends SIGTERM to its workers. */
function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.once('exit', endAll);
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

async function inTime<T>(work: Promise<T>, failure: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(failure())), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

interface Collected {
  text(): string;
  line(accept: (line: string) => boolean): Promise<string>;
}

function collect(stream: Readable): Collected {
  let text = '';
  const awaited = new Set<() => void>();
  stream.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    for (const look of awaited) look();
  });
  return {
    text: () => text,
    line: (accept) =>
      new Promise((resolve) => {
        const look = (): void => {
          const line = text.split('\n').slice(0, -1).find(accept);
          if (line === undefined) return;
          awaited.delete(look);
          resolve(line);
        };
        awaited.add(look);
        look();
      }),
  };
}

/** Starts the real command as it is installed, with the Node.js that runs the tests. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const { folder, environment = {}, cwd, entry = command, through = [] } = options;
  const data = folder === undefined ? {} : { WORKSPACE_SERVICE_DATA: folder };
  const [program = process.execPath, ...words] = [...through, process.execPath, entry, ...args];
  const child = spawn(program, words, {
    env: {
      PATH: process.env['PATH'],
      HOME: tmpdir(),
      WORKSPACE_SERVICE_DRAIN_DELAY: '0s',
      ...data,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  running.add(child);

  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      // One of the two is set: a process ends by itself or by a signal.
      resolve(code ?? signal ?? 'SIGKILL');
    });
  });
  const state = (): string => `${args.join(' ')}\nstdout: ${stdout.text()}\nstderr: ${stderr.text()}`;
  const lineOf = (collected: Collected) => (accept: (line: string) => boolean) => {
    const tooEarly = ended.then((ending): never => {
      throw new Error(`The command ended with ${ending}: ${state()}`);
    });
    return inTime(
      Promise.race([collected.line(accept), tooEarly]),
      () => `The command did not write what was awaited: ${state()}`,
    );
  };

  return {
    pid: child.pid ?? 0,
    ended: () => inTime(ended, () => `The command did not end: ${state()}`),
    stdout: stdout.text,
    stderr: stderr.text,
    line: lineOf(stdout),
    logLine: lineOf(stderr),
    signal: (signal) => void child.kill(signal),
  };
}

/** Runs the real command to its end. */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const command = startCommand(args, options);
  const code = await command.ended();
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

export interface ServiceProcessOptions extends CommandOptions {
  /** Further flags of `serve`. */
  readonly args?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
}

/** The service as its own process, with the sample workspace and a token with all scopes. */
export interface ServiceProcess {
  /** The base URL, ending in `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  readonly workspace: string;
  readonly folder: string;
  readonly command: RunningCommand;
  /** Stops the service and waits until it has ended: 0 if all went well. */
  stop(): Promise<Ending>;
  /** Ends the service like a crash. */
  kill(): Promise<Ending>;
}

interface Listening {
  readonly event: 'listening';
  readonly base_url: string;
  readonly token: string;
  readonly workspace: string;
}

/** Starts `serve --dev` on a free port. Without a given folder, one is created, and removed with the process. */
export async function startServiceProcess(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'workspace-service-')));
  const args = ['serve', '--dev', '--json', '--port', String(options.port ?? 0), ...(options.args ?? [])];
  const command = startCommand(args, { ...options, folder });
  const end = async (signal: NodeJS.Signals): Promise<Ending> => {
    command.signal(signal);
    const ending = await command.ended();
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    return ending;
  };
  try {
    const line = await command.line((text) => text.includes('"listening"'));
    // The first line of the command has this form, as a test of `serve` checks.
    const { base_url, token, workspace } = JSON.parse(line) as Listening;
    return {
      baseUrl: base_url,
      token,
      workspace,
      folder,
      command,
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}
