import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ending, type Output, startProcess } from './started-process.ts';

/** The command as it is installed: one file. */
export const commandFile = fileURLToPath(new URL('../../build/workspace-service.mjs', import.meta.url));

/** Most of the time of a short command goes into loading its modules. */
export const compileCache = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled-modules', import.meta.url)),
};

interface CommandOptions {
  /** The data folder. A command such as `--help` needs none. */
  readonly folder?: string;
  /** The environment of the process in addition to PATH and HOME: nothing else comes from that of the tests. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** A program with its arguments that becomes the command: it must not start the command as a child. */
  readonly through?: readonly string[];
  /** A module that runs in place of the command. */
  readonly entry?: string;
}

export interface CommandResult {
  readonly code: Ending;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunningCommand = ReturnType<typeof startCommand>;

/** Starts the real command as it is installed, with the Node.js that runs the tests. */
export function startCommand(args: readonly string[], options: CommandOptions = {}) {
  const { folder, environment = {}, cwd, through = [], entry = commandFile } = options;
  const data = folder === undefined ? {} : { WORKSPACE_SERVICE_DATA: folder };
  const { stdout, stderr, ...started } = startProcess([...through, process.execPath, entry, ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: tmpdir(),
      ...compileCache,
      WORKSPACE_SERVICE_DRAIN_DELAY: '0s',
      ...data,
      ...environment,
    },
    cwd,
  });
  const lineOf = (output: Output) => (accept: (line: string) => boolean) =>
    output.until((text) => text.split('\n').slice(0, -1).find(accept));
  return {
    ...{ ...started, stdout: stdout.text, stderr: stderr.text },
    /** The first line on stdout that the test accepts; fails if the process ends before it. */
    line: lineOf(stdout),
    /** The same on stderr, which has the log. */
    logLine: lineOf(stderr),
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

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

/**
 * The service as its own process: `serve --dev`, with the sample workspace and a token with all scopes. Without a given
 * folder, one is created, and removed with the process.
 */
export async function startServiceProcess(options: ServiceProcessOptions = {}) {
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
    const listening = JSON.parse(line) as Readonly<Record<'base_url' | 'token' | 'workspace', string>>;
    return {
      /** The base URL, ending in `/v1`. */
      baseUrl: listening.base_url,
      ...{ token: listening.token, workspace: listening.workspace, folder, command },
      /** Stops the service and waits until it has ended: 0 if all went well. */
      stop: () => end('SIGTERM'),
      /** Ends the service like a crash. */
      kill: () => end('SIGKILL'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}
