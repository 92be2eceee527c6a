import { parseBaseUrl, readIdentityRequest } from '../../client/access.ts';
import type { PoolSelection } from '../../client/leases.ts';
import { type Parsed, parseNameValue, refused, textOf } from '../../interface/parsed.ts';
import type { OurLock } from '../../locks/ownership.ts';
import { type PathLine, parsePathLine, splitLines, splitList } from './parse.ts';
import {
  complete,
  createReader,
  type GetInput,
  type OperationName,
  type RawInputs,
  type Reader,
  unusedText,
} from './table.ts';

/** The task of the step, or all problems with its inputs: each with the name, the value and what is allowed. */
export function loadInputs(raw: RawInputs, getInput: GetInput, environment: NodeJS.ProcessEnv) {
  const reader = createReader(raw);
  const operation = reader.read('operation');
  const connection = readConnection(reader, environment);
  const summary = reader.read('summary');
  const task = operation && readTask(operation, reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems } as const;
  }
  const unused = unusedText(getInput, task.operation);
  return { ok: true, inputs: { connection, task, summary, unused } } as const;
}

export type ConnectionInputs = Exclude<ReturnType<typeof readConnection>, undefined>;

export function readConnection(reader: Reader, environment: NodeJS.ProcessEnv) {
  const { read, readAs } = reader;
  const allowHttp = read('allow-http');
  // An invalid allow-http is reported on its own, and must not make the URL invalid as well.
  const baseUrl = readAs('base-url', (text) => parseBaseUrl(text, allowHttp ?? true, '`allow-http: true`'));
  return complete({
    allowHttp,
    baseUrl,
    credentials: readCredentials(reader, baseUrl, environment),
    requestTimeout: read('request-timeout'),
    retries: read('retries'),
  });
}

const credentialsAdvice =
  'Pass a token of the service from a secret, or let the job authenticate with its OIDC token: give it `id-token: write`, under `permissions:`, and have the operator of the service add a trust rule.';

/** A given token takes precedence over the identity of the job. */
function readCredentials(
  { read, raw, addProblem }: Reader,
  baseUrl: string | undefined,
  environment: NodeJS.ProcessEnv,
) {
  const audience = read('audience');
  if (raw.token !== '') {
    const token = read('token');
    return token === undefined ? undefined : ({ kind: 'static', token } as const);
  }
  const identity = readIdentityRequest(environment);
  if (identity === undefined) addProblem('token', credentialsAdvice);
  if (identity === undefined || baseUrl === undefined || audience === undefined) return undefined;
  return { kind: 'identity', ...identity, audience: audience || new URL(baseUrl).origin } as const;
}

/** The work of one step: an operation with the inputs that it uses. */
export type Task = Exclude<ReturnType<typeof readTask>, undefined>;

export type TaskOf<Operation extends OperationName> = Extract<Task, { readonly operation: Operation }>;

function readTask(operation: OperationName, reader: Reader, environment: NodeJS.ProcessEnv) {
  switch (operation) {
    case 'sync':
      return readSync(reader, environment);
    case 'lock':
      return readLock(reader);
    case 'unlock':
      return readUnlock(reader);
    case 'check':
      return readCheck(reader);
    case 'list-locks':
      return readListLocks(reader);
    case 'register-hook':
      return readRegisterHook(reader);
    case 'list-workspaces':
      return { operation };
    case 'list-branches':
      return complete({ operation, workspace: reader.read('workspace') });
  }
}

function readSync(reader: Reader, environment: NodeJS.ProcessEnv) {
  const parseBranch = (text: string): Parsed<string> => {
    const branch = text || runBranch(environment);
    return branch === undefined
      ? refused('The run is not on a branch: name the branch to sync.')
      : textOf('the name of a branch')(branch);
  };
  return complete({
    operation: 'sync',
    workspace: reader.read('workspace'),
    branch: reader.readAs('branch', parseBranch),
    wait: reader.read('wait'),
  });
}

/** The branch of the run: the head of a pull request, or the pushed branch. A tag has none. */
export function runBranch(environment: NodeJS.ProcessEnv): string | undefined {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(environment['GITHUB_REF'] ?? '') ?? [];
  return environment['GITHUB_HEAD_REF'] || branch;
}

const renewalEnds =
  'Renewal ends with the job, so the locks of a step with `auto-release: false` would expire one `ttl` after it. Leave `renew` out, and choose a `ttl` that covers all jobs that need the locks.';

function readLock(reader: Reader) {
  const { read, raw, addProblem } = reader;
  const autoRelease = read('auto-release');
  const renew = read('renew');
  const onLost = read('on-lost');
  if (renew === true && autoRelease === false) addProblem('renew', renewalEnds);
  if (renew === false && onLost === 'cancel') {
    addProblem('on-lost', 'It works only with `renew: true`: otherwise a loss is not noticed at once.');
  }
  return complete({
    operation: 'lock',
    workspace: reader.read('workspace'),
    from: raw.pool === '' ? readLockPaths(reader) : readPool(reader),
    // A step needs one item of a pool, but all paths.
    any: raw.pool !== '' && raw.any === '' ? 1 : read('any'),
    type: read('type'),
    ttl: read('ttl'),
    wait: read('wait'),
    urgency: read('priority'),
    autoRelease,
    renew,
    onLost,
    /** Cancels the run. */
    githubToken: onLost === 'cancel' ? read('github-token') : '',
  });
}

function readLockPaths(reader: Reader): PathSelection | undefined {
  const { raw, addProblem } = reader;
  if (splitLines(raw.path).length === 0) addProblem('path', 'List the paths to lock, one per line.');
  if (raw.where !== '') addProblem('where', 'It works only with `pool`: set `pool` as well.');
  return readPaths(reader);
}

function readPool({
  raw,
  read,
  addLineProblem,
  addConflict,
}: Reader): (PoolSelection & { readonly kind: 'pool' }) | undefined {
  if (raw.path !== '') addConflict('path', 'pool');
  const name = read('pool');
  const where = new Map<string, string>();
  for (const line of splitLines(raw.where)) {
    const parsed = parseNameValue(line);
    if (!parsed.ok) addLineProblem('where', line, parsed.reason);
    else if (where.has(parsed.value[0])) addLineProblem('where', line, 'No item has two values of the same property.');
    else where.set(...parsed.value);
  }
  return name === undefined ? undefined : { kind: 'pool', name, where: Object.fromEntries(where) };
}

const readUnlock = (reader: Reader) =>
  complete({
    operation: 'unlock',
    workspace: reader.read('workspace'),
    selection: readUnlockSelection(reader),
    force: reader.read('force'),
  });

function readUnlockSelection(reader: Reader): LockSelection | PathSelection | undefined {
  const paths = readPaths(reader);
  if (reader.raw.path === '') return readLockSelection(reader);
  for (const name of handoffInputs) if (reader.raw[name] !== '') reader.addConflict('path', name);
  return paths;
}

const readCheck = (reader: Reader) =>
  complete({ operation: 'check', workspace: reader.read('workspace'), selection: readLockSelection(reader) });

const handoffInputs = ['locks', 'locks-file'] as const;

function readLockSelection({ read, raw, addConflict }: Reader): LockSelection | undefined {
  const [name, another] = handoffInputs.filter((each) => raw[each] !== '');
  if (name === undefined) return { kind: 'job' };
  if (another !== undefined) addConflict(name, another);
  const locks = read(name);
  return locks && { kind: 'locks', locks };
}

type LockSelection =
  /** All locks that the job holds in the workspace. */
  | { readonly kind: 'job' }
  /** Exactly the locks in the output of a lock step, of this or another job. */
  | { readonly kind: 'locks'; readonly locks: readonly OurLock[] };

const readListLocks = (reader: Reader) =>
  complete({
    operation: 'list-locks',
    workspace: reader.read('workspace'),
    scope: readLockScope(reader),
    failIfLocked: reader.read('fail-if-locked'),
    ignoredOwners: splitLines(reader.raw['ignore-owner']),
  });

/** No paths mean the complete workspace. */
function readLockScope(reader: Reader) {
  const { read, raw, addConflict } = reader;
  const paths = readPaths(reader);
  if (!read('changed-files')) return paths;
  if (raw.path !== '') addConflict('path', 'changed-files');
  const githubToken = read('github-token');
  return githubToken === undefined ? undefined : ({ kind: 'changed-files', githubToken } as const);
}

interface PathSelection {
  readonly kind: 'paths';
  readonly paths: readonly PathLine[];
}

function readPaths({ read, raw, addLineProblem }: Reader): PathSelection | undefined {
  const glob = read('glob');
  const parsed = splitLines(raw.path).map((line) => {
    // With an invalid `glob`, only lines that cannot be patterns are checked.
    const path = parsePathLine(line, glob ?? true);
    if (!path.ok) addLineProblem('path', line, path.reason);
    return path;
  });
  const valid = parsed.flatMap((path) => (path.ok ? [path.value] : []));
  return glob === undefined || valid.length < parsed.length ? undefined : { kind: 'paths', paths: valid };
}

const readRegisterHook = (reader: Reader) =>
  complete({
    operation: 'register-hook',
    workspace: reader.read('workspace'),
    url: reader.read('hook-url'),
    events: splitList(reader.raw['hook-events']),
    secret: reader.raw['hook-secret'],
    options: reader.read('hook-options'),
  });
