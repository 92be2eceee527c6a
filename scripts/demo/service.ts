import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compiledService } from './compiled-service.ts';
import { DemoFailure, type Ending } from './ending.ts';

export const workspace = 'game-assets';

export interface DemoService {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** Signs in to the dashboard, once. */
  readonly signInLink: string;
  readonly dataFolder: string;
  /** Runs a command over HTTP with this token, and returns its output. */
  run(args: readonly string[], token: string): Promise<string>;
  /** Creates a token, and returns its secret. Its name is the owner of its locks. */
  token(name: string, scopes: readonly string[]): Promise<string>;
  /** Stops the service gracefully, and kills it after a timeout. */
  stop(): Promise<void>;
  /** Kills the service at once. */
  kill(): void;
}

interface Place {
  /** The folder for all files of the demo. */
  readonly folder: string;
  /** The repository that the workspace mirrors. */
  readonly repository: string;
  readonly ending: Ending;
}

const timeoutMs = 5_000;
/** A Ctrl-C also reaches the service, perhaps first: its end is not a failure if a signal follows within this time. */
const sameMomentMs = 500;

/** Quotes an argument for the shell in which git starts ssh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Keeps settings of the user, such as a database, away from the service. */
function environmentOf({ folder, repository }: Place): NodeJS.ProcessEnv {
  const names = ['PATH', 'Path', 'HOME', 'USERPROFILE', 'SystemRoot', 'TMPDIR', 'TEMP', 'TMP'];
  const link = fileURLToPath(new URL('paced-link.ts', import.meta.url));
  return {
    ...Object.fromEntries(names.map((name) => [name, process.env[name]])),
    WORKSPACE_SERVICE_DATA: join(folder, 'data'),
    GIT_SSH_COMMAND: [process.execPath, link, repository].map(quoted).join(' '),
    GIT_SSH_VARIANT: 'ssh',
  };
}

/** Runs a command of the service to its end, and returns its output. */
async function runCommand(
  command: string,
  args: readonly string[],
  place: Place,
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...environmentOf(place), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: place.ending.signal,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    }),
  ]);
  if (code === 0) return stdout.join('');
  throw new DemoFailure(`\`workspace-service ${args.slice(0, 2).join(' ')}\` failed: ${stderr.join('').trim()}`);
}

const withLog = (sentence: string, log: readonly string[]): string =>
  log.length === 0 ? sentence : `${sentence} The last lines of its log:\n${log.join('\n')}`;

interface Listening {
  readonly base_url: string;
  readonly dashboard_url: string;
}

/** Makes the link fit 80 columns. All clients parse 127.1 as 127.0.0.1 (WHATWG URL, IPv4 parser). */
const shortened = (url: string): string => url.replace('//127.0.0.1:', '//127.1:');

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}

/** Starts the service with a workspace, like an operator. End it with `stop` or `kill`. */
export async function startDemoService(place: Place): Promise<DemoService> {
  const { folder, ending } = place;
  const command = await compiledService();
  const serve = ['serve', '--port', '0', '--json', '--log-level', 'warn', '--allow-hook-network', '127.0.0.0/8'];
  const child = spawn(process.execPath, [command, ...serve], {
    env: environmentOf(place),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    log.push(line);
    if (log.length > 10) log.shift();
  });
  const ended = endOf(child);
  let isStopping = false;
  void ended.then(() => {
    if (isStopping) return;
    const sentence = withLog('The service ended unexpectedly.', log);
    setTimeout(() => ending.end({ kind: 'failure', sentence }), sameMomentMs).unref();
  });
  const kill = (): void => {
    isStopping = true;
    child.kill('SIGKILL');
  };
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.kill('SIGTERM');
    const timer = setTimeout(kill, timeoutMs);
    await ended;
    clearTimeout(timer);
  };
  const add = ['workspace', 'add', workspace, '--remote', `demo@localhost:${workspace}.git`];
  try {
    const [[line]] = await Promise.all([
      ending.orEnd(
        new Promise<readonly string[]>((resolve, reject) => {
          createInterface(child.stdout).once('line', (first) => resolve([first]));
          void ended.then(() => reject(new DemoFailure(withLog('The service did not start.', log))));
        }),
      ),
      runCommand(command, add, place),
    ]);
    // The output of both commands has this form, which their own tests cover.
    const { base_url, dashboard_url } = JSON.parse(line ?? '') as Listening;
    const signIn = ['sign-in', '--public-url', dashboard_url, '--json'];
    const { sign_in_link } = JSON.parse(await runCommand(command, signIn, place)) as { readonly sign_in_link: string };
    return {
      baseUrl: base_url,
      dashboardUrl: dashboard_url,
      signInLink: shortened(sign_in_link),
      dataFolder: join(folder, 'data'),
      run: (args, token) =>
        runCommand(command, args, place, {
          WORKSPACE_BASE_URL: base_url,
          WORKSPACE_TOKEN: token,
          WORKSPACE_ID: workspace,
        }),
      async token(name, scopes) {
        const args = ['token', 'create', '--name', name, '--scopes', scopes.join(','), '--expires', '1d', '--json'];
        // The form of `token create --json`, which its own tests cover.
        const { secret } = JSON.parse(await runCommand(command, args, place)) as { readonly secret: string };
        return secret;
      },
      stop,
      kill,
    };
  } catch (error) {
    kill();
    await ended;
    throw error;
  }
}
