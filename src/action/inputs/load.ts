import type { JsonObject } from '../../client/json.ts';
import type { WorkspaceId } from '../../client/workspace-id.ts';
import type { Duration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl, type Ttl } from '../../interface/ttl.ts';
import {
  type HandoffLock,
  type LossReaction,
  lines,
  type PathLine,
  parseBaseUrl,
  parseBoolean,
  parseDurationBetween,
  parseHandoff,
  parseHookUrl,
  parseJsonObject,
  parseLossReaction,
  parseOneOf,
  parsePathLine,
  parseText,
  parseToken,
  parseWholeNumber,
  parseWorkspace,
  words,
} from './parse.ts';
import { complete, createReader, type Read, type Reader } from './reader.ts';
import { type GetInput, type InputName, type OperationName, operations, readRawInputs, unusedInputs } from './table.ts';

/** How to reach the service. */
export interface Connection {
  readonly baseUrl: string;
  readonly token: string;
  /** Of one attempt. */
  readonly requestTimeout: Duration;
  /** Attempts after the first. */
  readonly retries: number;
}

export interface SyncTask {
  readonly operation: 'sync';
  readonly workspace: WorkspaceId;
  readonly branch: string;
  readonly wait: Duration;
}

export interface LockTask {
  readonly operation: 'lock';
  readonly workspace: WorkspaceId;
  readonly paths: readonly PathLine[];
  readonly type: string;
  readonly ttl: Ttl;
  readonly wait: Duration;
  readonly autoRelease: boolean;
  readonly onLost: LossReaction;
}

/** What `unlock` is to release: paths, or exactly the locks that a lock step gave out. */
export type UnlockSelection =
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'locks'; readonly locks: readonly HandoffLock[] }
  | { readonly kind: 'locks-file'; readonly file: string };

export interface UnlockTask {
  readonly operation: 'unlock';
  readonly workspace: WorkspaceId;
  readonly selection: UnlockSelection;
  readonly force: boolean;
}

/** Whose locks `list-locks` lists. */
export type LockScope =
  /** Without paths, the whole workspace. */
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'changed-files'; readonly githubToken: string; readonly allowHttp: boolean };

export interface ListLocksTask {
  readonly operation: 'list-locks';
  readonly workspace: WorkspaceId;
  readonly scope: LockScope;
  readonly failIfLocked: boolean;
  readonly ignoredOwners: readonly string[];
}

export interface RegisterHookTask {
  readonly operation: 'register-hook';
  readonly workspace: WorkspaceId;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly options: JsonObject;
}

export interface ListWorkspacesTask {
  readonly operation: 'list-workspaces';
}

export interface ListBranchesTask {
  readonly operation: 'list-branches';
  readonly workspace: WorkspaceId;
}

export type Task =
  | SyncTask
  | LockTask
  | UnlockTask
  | ListLocksTask
  | RegisterHookTask
  | ListWorkspacesTask
  | ListBranchesTask;

const maxWait: Duration = { seconds: 30 * 86_400 };
const parseWait = parseDurationBetween({ seconds: 0 }, maxWait);

const optionalJsonObject = (text: string): Parsed<JsonObject> => (text === '' ? accepted({}) : parseJsonObject(text));

const readWorkspace = ({ read }: Reader): Read<WorkspaceId> => read('workspace', parseWorkspace);

/** The branch of the run: of a pull request its head, of a push the branch. A tag has none. */
function runBranch(environment: NodeJS.ProcessEnv): string | undefined {
  const head = environment['GITHUB_HEAD_REF'];
  if (head !== undefined && head !== '') return head;
  const [, branch] = /^refs\/heads\/(.+)$/.exec(environment['GITHUB_REF'] ?? '') ?? [];
  return branch;
}

function readSync(reader: Reader, environment: NodeJS.ProcessEnv): Read<SyncTask> {
  const parseBranch = (text: string): Parsed<string> => {
    const branch = text || runBranch(environment);
    return branch === undefined
      ? refused('The run is not on a branch: name the branch to sync.')
      : parseText('It has to be the name of a branch.')(branch);
  };
  return complete<SyncTask>({
    operation: 'sync',
    workspace: readWorkspace(reader),
    branch: reader.read('branch', parseBranch),
    wait: reader.read('wait', parseWait),
  });
}

function readPathLines({ read, raw, complainOfLine }: Reader): Read<readonly PathLine[]> {
  const glob = read('glob', parseBoolean);
  const parsed = lines(raw.path).map((line) => {
    // With an invalid `glob`, only lines that cannot be patterns are checked.
    const path = parsePathLine(line, glob ?? true);
    if (!path.ok) complainOfLine('path', line, path.why);
    return path;
  });
  const right = parsed.flatMap((path) => (path.ok ? [path.value] : []));
  return glob === undefined || right.length < parsed.length ? undefined : right;
}

function readLock(reader: Reader): Read<LockTask> {
  const { read, raw, complain } = reader;
  if (lines(raw.path).length === 0) complain('path', 'Name what to lock, one path per line.');
  return complete<LockTask>({
    operation: 'lock',
    workspace: readWorkspace(reader),
    paths: readPathLines(reader),
    type: read('type', parseText('It has to be a kind of lock, such as exclusive.')),
    ttl: read('ttl', parseTtl),
    wait: read('wait', parseWait),
    autoRelease: read('auto-release', parseBoolean),
    onLost: read('on-lost', parseLossReaction),
  });
}

function readUnlockSelection(reader: Reader): Read<UnlockSelection> {
  const { read, raw, complain } = reader;
  const paths = readPathLines(reader);
  const [name, another] = (['path', 'locks', 'locks-file'] as const).filter((each) => raw[each] !== '');
  if (name === undefined) {
    complain('path', 'Name what to release: with `path`, `locks` or `locks-file`.');
    return undefined;
  }
  if (another !== undefined) complain(another, 'Give one of `path`, `locks` and `locks-file`, not several.');
  switch (name) {
    case 'path':
      return paths && { kind: 'paths', paths };
    case 'locks': {
      const locks = read('locks', parseHandoff);
      return locks && { kind: 'locks', locks };
    }
    case 'locks-file':
      return { kind: 'locks-file', file: raw['locks-file'] };
  }
}

function readUnlock(reader: Reader): Read<UnlockTask> {
  return complete<UnlockTask>({
    operation: 'unlock',
    workspace: readWorkspace(reader),
    selection: readUnlockSelection(reader),
    force: reader.read('force', parseBoolean),
  });
}

const parseGitHubToken = parseToken(
  'With `changed-files: true` it has to be a GitHub token, in one piece. Leave it out to use the token of the job.',
);

function readLockScope(reader: Reader): Read<LockScope> {
  const { read, raw, complain } = reader;
  const paths = readPathLines(reader);
  const changedFiles = read('changed-files', parseBoolean);
  if (changedFiles === undefined) return undefined;
  if (!changedFiles) return paths && { kind: 'paths', paths };
  if (raw.path !== '') {
    complain(
      'path',
      'With `changed-files: true` the paths come from the pull request or push: give only one of the two.',
    );
  }
  const githubToken = read('github-token', parseGitHubToken);
  // The connection reports a wrong one.
  const allowHttp = parseBoolean(raw['allow-http']);
  return githubToken === undefined
    ? undefined
    : { kind: 'changed-files', githubToken, allowHttp: allowHttp.ok && allowHttp.value };
}

function readListLocks(reader: Reader): Read<ListLocksTask> {
  const { read, raw } = reader;
  return complete<ListLocksTask>({
    operation: 'list-locks',
    workspace: readWorkspace(reader),
    scope: readLockScope(reader),
    failIfLocked: read('fail-if-locked', parseBoolean),
    ignoredOwners: lines(raw['ignore-owner']),
  });
}

function readRegisterHook(reader: Reader): Read<RegisterHookTask> {
  const { read, raw } = reader;
  return complete<RegisterHookTask>({
    operation: 'register-hook',
    workspace: readWorkspace(reader),
    url: read('hook-url', parseHookUrl),
    events: words(raw['hook-events']),
    secret: raw['hook-secret'],
    options: read('hook-options', optionalJsonObject),
  });
}

export function readConnection({ read }: Reader): Read<Connection> {
  const allowHttp = read('allow-http', parseBoolean);
  return complete<Connection>({
    // A wrong allow-http is reported by itself, and does not make the address wrong as well.
    baseUrl: read('base-url', (text) => parseBaseUrl(text, allowHttp ?? true)),
    token: read('token', parseToken('It has to be an API token of the service, in one piece: pass it from a secret.')),
    requestTimeout: read('request-timeout', parseDurationBetween({ seconds: 1 }, { seconds: 3_600 })),
    retries: read('retries', parseWholeNumber(100)),
  });
}

type TaskReaders = {
  readonly [Name in OperationName]: (
    reader: Reader,
    environment: NodeJS.ProcessEnv,
  ) => Read<Extract<Task, { readonly operation: Name }>>;
};

const taskReaders: TaskReaders = {
  sync: readSync,
  lock: readLock,
  unlock: readUnlock,
  'list-locks': readListLocks,
  'register-hook': readRegisterHook,
  'list-workspaces': () => ({ operation: 'list-workspaces' }),
  'list-branches': (reader) =>
    complete<ListBranchesTask>({ operation: 'list-branches', workspace: readWorkspace(reader) }),
};

export interface Inputs {
  readonly connection: Connection;
  readonly task: Task;
  readonly summary: boolean;
  /** Inputs that the workflow gives and the operation does not look at. */
  readonly unused: readonly InputName[];
}

export type LoadedInputs =
  | { readonly ok: true; readonly inputs: Inputs }
  /** All that is wrong, each with the name of the input, its value and what is allowed. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** What the step is asked to do, or everything that is wrong with how it was asked. */
export function loadInputs(getInput: GetInput, environment: NodeJS.ProcessEnv): LoadedInputs {
  const reader = createReader(readRawInputs(getInput, environment));
  const operation = reader.read('operation', parseOneOf(operations));
  const connection = readConnection(reader);
  const summary = reader.read('summary', parseBoolean);
  const task: Read<Task> = operation && taskReaders[operation](reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems };
  }
  return { ok: true, inputs: { connection, task, summary, unused: unusedInputs(getInput, task.operation) } };
}
