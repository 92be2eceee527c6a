import { parseBaseUrl, readIdentityRequest } from '../../client/access.ts';
import { type Parsed, parseNameValue, refused, textOf } from '../../interface/parsed.ts';
import { parsePathLine, splitLines } from './parse.ts';
import {
  complete,
  createReader,
  type GetInput,
  type OperationName,
  type RawInputs,
  type Reader,
  unusedText,
} from './table.ts';

/** The task of the step, or all problems with its inputs, each with the name, the value and what is allowed. */
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
  // An invalid allow-http has its own problem, and must not make the URL invalid, too.
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

/** A token in the inputs takes precedence over the identity of the job. */
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
  const { read, readAs, raw } = reader;
  if (operation === 'list-workspaces') return { operation };
  const workspace = read('workspace');
  switch (operation) {
    case 'sync': {
      const branch = readAs('branch', (text) => parseBranch(text || runBranch(environment)));
      return complete({ operation, workspace, branch, wait: read('wait') });
    }
    case 'lock':
      return complete({ operation, workspace, ...readLock(reader) });
    case 'unlock':
      return complete({ operation, workspace, selection: readUnlockSelection(reader), force: read('force') });
    case 'check':
      return complete({ operation, workspace, selection: readLockSelection(reader) });
    case 'list-locks': {
      const scope = readLockScope(reader);
      const ignoredOwners = splitLines(raw['ignore-owner']);
      return complete({ operation, workspace, scope, failIfLocked: read('fail-if-locked'), ignoredOwners });
    }
    case 'register-hook': {
      const url = read('hook-url');
      const events = splitLines(raw['hook-events'].replaceAll(',', '\n'));
      const options = read('hook-options');
      return complete({ operation, workspace, url, events, secret: raw['hook-secret'], options });
    }
    case 'list-branches':
      return complete({ operation, workspace });
  }
}

const parseBranch = (branch: string | undefined): Parsed<string> =>
  branch === undefined
    ? refused('The run is not on a branch: name the branch to sync.')
    : textOf('the name of a branch')(branch);

/** The branch of the run: the head of a pull request, or the pushed branch. Undefined for a tag. */
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
  return {
    from: raw.pool === '' ? readLockPaths(reader) : readPool(reader),
    // The default is one item of a pool, but all paths.
    any: raw.any !== '' ? read('any') : raw.pool === '' ? ('all' as const) : 1,
    type: read('type'),
    ttl: read('ttl'),
    wait: read('wait'),
    urgency: read('priority'),
    autoRelease,
    renew,
    onLost,
    /** For cancelling the run. */
    githubToken: onLost === 'cancel' ? read('github-token') : '',
  };
}

function readLockPaths(reader: Reader) {
  const { raw, addProblem } = reader;
  if (splitLines(raw.path).length === 0) addProblem('path', 'List the paths to lock, one per line.');
  if (raw.where !== '') addProblem('where', 'It works only with `pool`: set `pool` as well.');
  return readPaths(reader);
}

function readPool({ raw, read, addLineProblem, addConflict }: Reader) {
  if (raw.path !== '') addConflict('path', 'pool');
  const name = read('pool');
  const where = new Map<string, string>();
  for (const line of splitLines(raw.where)) {
    const parsed = parseNameValue(line);
    if (!parsed.ok) addLineProblem('where', line, parsed.reason);
    else if (where.has(parsed.value[0])) addLineProblem('where', line, 'No item has two values of the same property.');
    else where.set(...parsed.value);
  }
  return name === undefined ? undefined : ({ kind: 'pool', name, where: Object.fromEntries(where) } as const);
}

function readUnlockSelection(reader: Reader) {
  const paths = readPaths(reader);
  if (reader.raw.path === '') return readLockSelection(reader);
  for (const name of handoffInputs) if (reader.raw[name] !== '') reader.addConflict('path', name);
  return paths;
}

const handoffInputs = ['locks', 'locks-file'] as const;

/** Either exactly the locks in the output of a lock step, or else all locks of this job in the workspace. */
function readLockSelection({ read, raw, addConflict }: Reader) {
  const [name, another] = handoffInputs.filter((each) => raw[each] !== '');
  if (name === undefined) return { kind: 'job' } as const;
  if (another !== undefined) addConflict(name, another);
  const locks = read(name);
  return locks && ({ kind: 'locks', locks } as const);
}

/** Without paths, the complete workspace. */
function readLockScope(reader: Reader) {
  const { read, raw, addConflict } = reader;
  const paths = readPaths(reader);
  if (!read('changed-files')) return paths;
  if (raw.path !== '') addConflict('path', 'changed-files');
  const githubToken = read('github-token');
  return githubToken === undefined ? undefined : ({ kind: 'changed-files', githubToken } as const);
}

function readPaths({ read, raw, addLineProblem }: Reader) {
  const glob = read('glob');
  const parsed = splitLines(raw.path).map((line) => {
    // If `glob` is invalid, checks only lines that cannot be patterns.
    const path = parsePathLine(line, glob ?? true);
    if (!path.ok) addLineProblem('path', line, path.reason);
    return path;
  });
  const valid = parsed.flatMap((path) => (path.ok ? [path.value] : []));
  return glob === undefined || valid.length < parsed.length ? undefined : ({ kind: 'paths', paths: valid } as const);
}
