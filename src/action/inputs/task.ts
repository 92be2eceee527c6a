import { parseToken, type WorkspaceId } from '../../client/access.ts';
import type { JsonObject } from '../../client/json.ts';
import { parseDurationBetween } from '../../interface/duration.ts';
import { oneOf } from '../../interface/one-of.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import type { PoolSelection } from '../../locks/pool.ts';
import { readConnection } from './connection.ts';
import {
  type HandoffLock,
  type OnLost,
  type PathLine,
  parseBoolean,
  parseHandoff,
  parseHandoffFile,
  parseHookUrl,
  parseJsonObject,
  parseOnLost,
  parsePathCount,
  parsePathLine,
  parseText,
  parseUrgency,
  parseWorkspace,
  splitLines,
  splitList,
} from './parse.ts';
import {
  complete,
  createReader,
  type FromLedger,
  type GetInput,
  type OperationName,
  operations,
  type RawInputs,
  type Read,
  type Reader,
  unusedInputs,
} from './table.ts';

export type LoadedInputs = ReturnType<typeof loadInputs>;

/** The task of the step, or all problems with its inputs: each with the name, the value and what is allowed. */
export function loadInputs(
  raw: RawInputs,
  getInput: GetInput,
  environment: NodeJS.ProcessEnv,
  { values, missing }: FromLedger = { values: {}, missing: undefined },
) {
  const fromLedger = {
    'base-url': raw['base-url'] || (values['base-url'] ?? ''),
    workspace: raw.workspace || (values.workspace ?? ''),
  };
  const reader = createReader({ ...raw, ...fromLedger }, missing);
  const operation = reader.read('operation', oneOf(operations));
  const connection = readConnection(reader, environment);
  const summary = reader.read('summary', parseBoolean);
  const task = operation && readTask(operation, reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems } as const;
  }
  const unused = unusedInputs(getInput, task.operation);
  return { ok: true, inputs: { connection, task, summary, unused } } as const;
}

/** The work of one step: an operation with the inputs that it uses. */
export type Task = Exclude<ReturnType<typeof readTask>, undefined>;

export type TaskOf<Operation extends OperationName> = Extract<Task, { readonly operation: Operation }>;

export function readTask(operation: OperationName, reader: Reader, environment: NodeJS.ProcessEnv) {
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
      return complete({ operation, workspace: readWorkspace(reader) });
  }
}

const parseWait = parseDurationBetween({ seconds: 0 }, { seconds: 30 * 86_400 });

function readSync(reader: Reader, environment: NodeJS.ProcessEnv) {
  const parseBranch = (text: string): Parsed<string> => {
    const branch = text || runBranch(environment);
    return branch === undefined
      ? refused('The run is not on a branch: name the branch to sync.')
      : parseText('It must be the name of a branch.')(branch);
  };
  return complete({
    operation: 'sync',
    workspace: readWorkspace(reader),
    branch: reader.read('branch', parseBranch),
    wait: reader.read('wait', parseWait),
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
  const autoRelease = read('auto-release', parseBoolean);
  const renew = read('renew', parseBoolean);
  if (renew === true && autoRelease === false) addProblem('renew', renewalEnds);
  return complete({
    operation: 'lock',
    workspace: readWorkspace(reader),
    from: raw.pool === '' ? readLockPaths(reader) : readPool(reader),
    // A step needs one item of a pool, but all paths.
    any: raw.pool !== '' && raw.any === '' ? 1 : read('any', parsePathCount),
    type: read('type', parseText('It must be a kind of lock, such as exclusive.')),
    ttl: read('ttl', parseTtl),
    wait: read('wait', parseWait),
    urgency: read('priority', parseUrgency),
    autoRelease,
    renew,
    onLost: readOnLost(reader, renew),
  });
}

/** `cancel` also fails the job, and its token cancels the run. */
type OnLostTask =
  | { readonly kind: Exclude<OnLost, 'cancel'> }
  | { readonly kind: 'cancel'; readonly githubToken: string };

function readOnLost({ read, addProblem }: Reader, renew: Read<boolean>): Read<OnLostTask> {
  const kind = read('on-lost', parseOnLost);
  if (kind !== 'cancel') return kind && { kind };
  if (renew === false)
    addProblem('on-lost', 'It works only with `renew: true`: otherwise a loss is not noticed at once.');
  const githubToken = read('github-token', parseGitHubToken);
  return githubToken === undefined ? undefined : { kind, githubToken };
}

function readLockPaths(reader: Reader): Read<PathSelection> {
  const { raw, addProblem } = reader;
  if (splitLines(raw.path).length === 0) addProblem('path', 'List the paths to lock, one per line.');
  if (raw.where !== '') addProblem('where', 'It works only with `pool`: set `pool` as well.');
  return readPaths(reader);
}

function readPool({ raw, read, addLineProblem, addConflict }: Reader): Read<PoolSelection> {
  if (raw.path !== '') addConflict('path', 'pool');
  const name = read('pool', parseText('It must be the name of a pool.'));
  const where = new Map<string, string>();
  for (const line of splitLines(raw.where)) {
    const at = line.indexOf('=');
    const [property, value] = [line.slice(0, Math.max(0, at)).trim(), line.slice(at + 1).trim()];
    if (property === '' || value === '') addLineProblem('where', line, 'Write it as name=value.');
    else if (where.has(property)) addLineProblem('where', line, 'No item has two values of the same property.');
    else where.set(property, value);
  }
  return name === undefined ? undefined : { kind: 'pool', name, where: Object.fromEntries(where) };
}

const readUnlock = (reader: Reader) =>
  complete({
    operation: 'unlock',
    workspace: readWorkspace(reader),
    selection: readUnlockSelection(reader),
    force: reader.read('force', parseBoolean),
  });

function readUnlockSelection(reader: Reader): Read<JobSelection | HandoffSelection | PathSelection> {
  const paths = readPaths(reader);
  if (reader.raw.path === '') return readLockSelection(reader);
  for (const name of handoffInputs) if (reader.raw[name] !== '') reader.addConflict('path', name);
  return paths;
}

const readCheck = (reader: Reader) =>
  complete({ operation: 'check', workspace: readWorkspace(reader), selection: readLockSelection(reader) });

const handoffInputs = ['locks', 'locks-file'] as const;

function readLockSelection({ read, raw, addConflict }: Reader): Read<JobSelection | HandoffSelection> {
  const [name, another] = handoffInputs.filter((each) => raw[each] !== '');
  if (name === undefined) return { kind: 'job' };
  if (another !== undefined) addConflict(name, another);
  const locks = read(name, name === 'locks' ? parseHandoff : parseHandoffFile);
  return locks && { kind: 'locks', locks };
}

/** All locks that the job holds in the workspace. */
interface JobSelection {
  readonly kind: 'job';
}

/** Exactly the locks in the output of a lock step, of this or another job. */
interface HandoffSelection {
  readonly kind: 'locks';
  readonly locks: readonly HandoffLock[];
}

const readListLocks = (reader: Reader) =>
  complete({
    operation: 'list-locks',
    workspace: readWorkspace(reader),
    scope: readLockScope(reader),
    failIfLocked: reader.read('fail-if-locked', parseBoolean),
    ignoredOwners: splitLines(reader.raw['ignore-owner']),
  });

const parseGitHubToken = parseToken(
  'It must be a GitHub token, without spaces or line breaks. Leave it out to use the token of the job.',
);

/** No paths mean the complete workspace. */
function readLockScope(reader: Reader): Read<PathSelection | ChangedFiles> {
  const { read, raw, addConflict } = reader;
  const paths = readPaths(reader);
  const changedFiles = read('changed-files', parseBoolean);
  if (changedFiles === undefined) return undefined;
  if (!changedFiles) return paths;
  if (raw.path !== '') addConflict('path', 'changed-files');
  const githubToken = read('github-token', parseGitHubToken);
  return githubToken === undefined ? undefined : { kind: 'changed-files', githubToken };
}

interface ChangedFiles {
  readonly kind: 'changed-files';
  readonly githubToken: string;
}

interface PathSelection {
  readonly kind: 'paths';
  readonly paths: readonly PathLine[];
}

function readPaths({ read, raw, addLineProblem }: Reader): Read<PathSelection> {
  const glob = read('glob', parseBoolean);
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
    workspace: readWorkspace(reader),
    url: reader.read('hook-url', parseHookUrl),
    events: splitList(reader.raw['hook-events']),
    secret: reader.raw['hook-secret'],
    options: reader.read('hook-options', optionalJsonObject),
  });

const optionalJsonObject = (text: string): Parsed<JsonObject> => (text === '' ? accepted({}) : parseJsonObject(text));

const readWorkspace = ({ read }: Reader): Read<WorkspaceId> => read('workspace', parseWorkspace);
