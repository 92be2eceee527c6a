import { devNull } from 'node:os';
import { formatElapsed } from '../../interface/format.ts';
import type { FreeDisk } from '../runtime/free-disk.ts';
import { GitError } from './git-error.ts';
import { accessSettings, createRemoteRedactor, type Remote } from './remote.ts';
import { type GitWork, type Limits, runGit, withSignal } from './run-git.ts';

/** Limits for local work, which is either quick or stuck. */
export const localLimits: Limits = { timeoutMs: 60_000 };

interface GitTask extends GitWork {
  /** The repository to work on. Without one, git must not discover any. */
  readonly repository?: string | undefined;
  /** The remote to connect to. git receives its credentials, and they are redacted from errors. */
  readonly remote?: Remote | undefined;
  /** More settings. May contain secrets, so they are passed in the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** More environment variables. May contain secrets. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs git and returns its standard output, or throws a GitError. */
export type GitCommand = (args: readonly string[], task: GitTask) => Promise<string>;

export function gitCommand(setup: {
  readonly environment: NodeJS.ProcessEnv;
  readonly allowFile: boolean;
}): GitCommand {
  return async (args, task) => {
    const { program, remote, settings } = task;
    const environment = gitEnvironment(setup.environment, {
      ...task,
      allowFile: setup.allowFile,
      settings: { ...settings, ...(remote && program !== 'git-lfs' && accessSettings(remote)) },
    });
    return runGit(args, environment, { ...task, redact: createRemoteRedactor(remote) });
  };
}

/** Ends the work after this much silence. `heard.refresh()` resets the timer. `purpose` completes "git could not …". */
export async function withSilenceLimit<T>(
  { purpose, limits, silenceMs }: { readonly purpose: string; readonly limits: Limits; readonly silenceMs: number },
  work: (limits: Limits, heard: NodeJS.Timeout) => Promise<T>,
): Promise<T> {
  const silent = new AbortController();
  const reason = `nothing arrived for ${formatElapsed(silenceMs)}. Check the remote and the network in between.`;
  const end = () => silent.abort(new GitError('timeout', `git could not ${purpose}: ${reason}`));
  const heard = setTimeout(end, silenceMs);
  try {
    return await work(withSignal(limits, silent.signal), heard);
  } finally {
    clearTimeout(heard);
  }
}

/** More often than the free space is measured. */
const checkDiskEveryMs = 250;

/** Runs work that needs disk space, and ends it when less than the reserve is free. */
export async function withFreeDisk<T>(
  { isLow, reserve }: Pick<FreeDisk, 'isLow' | 'reserve'>,
  limits: Limits,
  work: (limits: Limits) => Promise<T>,
): Promise<T> {
  const full = new AbortController();
  const reason = `The disk of the service is nearly full: less than ${reserve} is free. Free disk space, or let syncs fetch less.`;
  const check = (): void => void (isLow() && full.abort(new GitError('disk-full', reason)));
  check();
  full.signal.throwIfAborted();
  const checks = setInterval(check, checkDiskEveryMs);
  try {
    return await work(withSignal(limits, full.signal));
  } finally {
    clearInterval(checks);
  }
}

export const inRepository =
  (git: GitCommand, repository: string): GitCommand =>
  (args, task) =>
    git(args, { ...task, repository });

/** Variables that git inherits from the operator. All others are removed, so that they cannot change its behavior. */
const passedOn = `
  PATH Path HOME USERPROFILE SystemRoot TMPDIR TEMP TMP SSH_AUTH_SOCK GIT_SSH_COMMAND GIT_SSH GIT_SSH_VARIANT
  GIT_SSL_CAINFO SSL_CERT_FILE SSL_CERT_DIR https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
`
  .trim()
  .split(/\s+/);

/** Never prompts, limits the time to connect, and detects a dead connection within a minute. */
const sshCommand = 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=4';

const fixedSettings: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'credential.helper': '',
  // A redirect could send the credentials to other hosts, which nobody registered.
  'http.followRedirects': 'false',
  // Ends an https fetch that stalls after its last object, when no more progress is expected. For ssh, only the time
  // limit does.
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '60',
  // Always keeps the received pack, because git does not report the number of objects while it unpacks.
  'fetch.unpackLimit': '1',
  // Flushes refs, too: a fetch could not update a ref that a power failure left empty.
  'core.fsync': 'committed',
  'fetch.recurseSubmodules': 'false',
  // The service decides when maintenance runs.
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

/** One thread leaves processor time for other work. Keeps existing deltas; new ones would not make assets smaller. */
export const packSettings: Readonly<Record<string, string>> = { 'pack.threads': '1', 'pack.window': '0' };

type EnvironmentSetup = Pick<GitTask, 'repository' | 'settings' | 'variables'> & { readonly allowFile: boolean };

export function gitEnvironment(
  operator: NodeJS.ProcessEnv,
  { allowFile, repository, settings, variables }: EnvironmentSetup,
): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    GIT_DIR: repository ?? devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    GIT_ALLOW_PROTOCOL: allowFile ? 'https:ssh:file' : 'https:ssh',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    // An empty value disables the program that prompts for passwords.
    GIT_ASKPASS: '',
    GCM_INTERACTIVE: 'never',
    ...variables,
  };
  for (const name of passedOn) {
    const value = operator[name];
    if (value !== undefined) environment[name] = value;
  }
  if (operator['GIT_SSH_COMMAND'] === undefined && operator['GIT_SSH'] === undefined) {
    environment['GIT_SSH_COMMAND'] = sshCommand;
  }
  const all = Object.entries({ ...fixedSettings, ...settings });
  environment['GIT_CONFIG_COUNT'] = String(all.length);
  for (const [index, [key, value]] of all.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}
