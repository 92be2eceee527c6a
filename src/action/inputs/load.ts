import { parseBaseUrl, parseToken, type WorkspaceId } from '../../client/access.ts';
import type { JsonObject } from '../../client/json.ts';
import type { Duration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import {
  type HandoffSelection,
  identityOf,
  type JobIdentity,
  lines,
  parseAudience,
  parseBoolean,
  parseDurationBetween,
  parseHandoff,
  parseHookUrl,
  parseJsonObject,
  parseLossReaction,
  parseOneOf,
  parsePathCount,
  parseText,
  parseWholeNumber,
  parseWorkspace,
  splitWords,
} from './parse.ts';
import { type PathLine, parsePathLine } from './path-line.ts';
import { complete, createReader, type Read, type Reader } from './reader.ts';
import {
  type FromLedger,
  type GetInput,
  type InputName,
  type OperationName,
  operations,
  readRawInputs,
  unusedInputs,
} from './table.ts';

/** How to reach the service. */
export interface ConnectionInputs {
  readonly baseUrl: string;
  readonly credentials: { readonly kind: 'given'; readonly token: string } | JobIdentity;
  /** Of one attempt. */
  readonly requestTimeout: Duration;
  /** Attempts after the first. */
  readonly retries: number;
}

/** All locks of the job in the workspace, or exactly those that the step names. */
type CheckSelection = { readonly kind: 'job' } | HandoffSelection;

type UnlockSelection = CheckSelection | { readonly kind: 'paths'; readonly paths: readonly PathLine[] };

/** Whose locks `list-locks` lists. */
export type LockScope =
  /** Without paths, the whole workspace. */
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'changed-files'; readonly githubToken: string; readonly allowHttp: boolean };

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

function readSync(reader: Reader, environment: NodeJS.ProcessEnv) {
  const parseBranch = (text: string): Parsed<string> => {
    const branch = text || runBranch(environment);
    return branch === undefined
      ? refused('The run is not on a branch: name the branch to sync.')
      : parseText('It has to be the name of a branch.')(branch);
  };
  return complete({
    operation: 'sync' as const,
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
    if (!path.ok) complainOfLine('path', line, path.reason);
    return path;
  });
  const right = parsed.flatMap((path) => (path.ok ? [path.value] : []));
  return glob === undefined || right.length < parsed.length ? undefined : right;
}

const renewalEnds =
  'Renewal ends with the job, so the locks of a step with `auto-release: false` would expire one `ttl` after it. Leave `renew` out, and choose a `ttl` that covers all jobs that need the locks.';

function readLock(reader: Reader) {
  const { read, raw, complain } = reader;
  const autoRelease = read('auto-release', parseBoolean);
  const renew = read('renew', parseBoolean);
  if (renew === true && autoRelease === false) complain('renew', renewalEnds);
  if (lines(raw.path).length === 0) complain('path', 'Name what to lock, one path per line.');
  return complete({
    operation: 'lock' as const,
    workspace: readWorkspace(reader),
    paths: readPathLines(reader),
    any: read('any', parsePathCount),
    type: read('type', parseText('It has to be a kind of lock, such as exclusive.')),
    ttl: read('ttl', parseTtl),
    wait: read('wait', parseWait),
    autoRelease,
    renew,
    onLost: read('on-lost', parseLossReaction),
  });
}

function readHandoffSelection({ read, raw }: Reader, name: HandoffSelection['kind']): Read<HandoffSelection> {
  switch (name) {
    case 'locks': {
      const locks = read('locks', parseHandoff);
      return locks && { kind: 'locks', locks };
    }
    case 'locks-file':
      return { kind: 'locks-file', file: raw['locks-file'] };
  }
}

function readUnlockSelection(reader: Reader): Read<UnlockSelection> {
  const { raw, complain } = reader;
  const paths = readPathLines(reader);
  const [name, another] = (['path', 'locks', 'locks-file'] as const).filter((each) => raw[each] !== '');
  if (another !== undefined) complain(another, 'Give one of `path`, `locks` and `locks-file`, not several.');
  if (name === undefined) return paths && { kind: 'job' };
  if (name === 'path') return paths && { kind: 'paths', paths };
  return readHandoffSelection(reader, name);
}

function readCheckSelection(reader: Reader): Read<CheckSelection> {
  const [name, another] = (['locks', 'locks-file'] as const).filter((each) => reader.raw[each] !== '');
  if (another !== undefined) reader.complain(another, 'Give one of `locks` and `locks-file`, not both.');
  return name === undefined ? { kind: 'job' } : readHandoffSelection(reader, name);
}

const readCheck = (reader: Reader) =>
  complete({
    operation: 'check' as const,
    workspace: readWorkspace(reader),
    selection: readCheckSelection(reader),
  });

const readUnlock = (reader: Reader) =>
  complete({
    operation: 'unlock' as const,
    workspace: readWorkspace(reader),
    selection: readUnlockSelection(reader),
    force: reader.read('force', parseBoolean),
  });

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

const readListLocks = (reader: Reader) =>
  complete({
    operation: 'list-locks' as const,
    workspace: readWorkspace(reader),
    scope: readLockScope(reader),
    failIfLocked: reader.read('fail-if-locked', parseBoolean),
    ignoredOwners: lines(reader.raw['ignore-owner']),
  });

const readRegisterHook = (reader: Reader) =>
  complete({
    operation: 'register-hook' as const,
    workspace: readWorkspace(reader),
    url: reader.read('hook-url', parseHookUrl),
    events: splitWords(reader.raw['hook-events']),
    secret: reader.raw['hook-secret'],
    options: reader.read('hook-options', optionalJsonObject),
  });

const parseServiceToken = parseToken('It must be an API token, without spaces or line breaks. Pass it from a secret.');

const neitherWay =
  'Pass a token of the service from a secret, or let the job prove who it is: give it `permissions: id-token: write`, and have the operator of the service add a trust rule.';

/** A token that is given always wins. */
function readCredentials(
  { read, raw, complain }: Reader,
  baseUrl: Read<string>,
  environment: NodeJS.ProcessEnv,
): Read<ConnectionInputs['credentials']> {
  const audience = read('audience', parseAudience);
  if (raw.token !== '') {
    const token = read('token', parseServiceToken);
    return token === undefined ? undefined : { kind: 'given', token };
  }
  const identity = identityOf(environment);
  if (identity === undefined) complain('token', neitherWay);
  if (identity === undefined || baseUrl === undefined || audience === undefined) return undefined;
  return { kind: 'identity', ...identity, audience: audience || new URL(baseUrl).origin };
}

export function readConnection(reader: Reader, environment: NodeJS.ProcessEnv): Read<ConnectionInputs> {
  const { read } = reader;
  const allowHttp = read('allow-http', parseBoolean);
  // A wrong allow-http is reported by itself, and does not make the address wrong as well.
  const baseUrl = read('base-url', (text) => parseBaseUrl(text, allowHttp ?? true, '`allow-http: true`'));
  return complete<ConnectionInputs>({
    baseUrl,
    credentials: readCredentials(reader, baseUrl, environment),
    requestTimeout: read('request-timeout', parseDurationBetween({ seconds: 1 }, { seconds: 3_600 })),
    retries: read('retries', parseWholeNumber(100)),
  });
}

const taskReaders = {
  sync: readSync,
  lock: readLock,
  unlock: readUnlock,
  'list-locks': readListLocks,
  'register-hook': readRegisterHook,
  'list-workspaces': () => ({ operation: 'list-workspaces' as const }),
  'list-branches': (reader: Reader) =>
    complete({ operation: 'list-branches' as const, workspace: readWorkspace(reader) }),
  check: readCheck,
} satisfies { readonly [Name in OperationName]: (...given: never) => Read<{ readonly operation: Name }> };

/** What a step of an operation is asked to do: what its reader makes of the inputs. */
export type TaskOf<Name extends OperationName> = NonNullable<ReturnType<(typeof taskReaders)[Name]>>;

export type Task = { readonly [Name in OperationName]: TaskOf<Name> }[OperationName];

export interface Inputs {
  readonly connection: ConnectionInputs;
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
export function loadInputs(
  getInput: GetInput,
  environment: NodeJS.ProcessEnv,
  { values, missing }: FromLedger = { values: {}, missing: {} },
): LoadedInputs {
  const given = readRawInputs(getInput, environment);
  const fromLedger = {
    'base-url': given['base-url'] || (values['base-url'] ?? ''),
    workspace: given.workspace || (values.workspace ?? ''),
  };
  const reader = createReader({ ...given, ...fromLedger }, missing);
  const operation = reader.read('operation', parseOneOf(operations));
  const connection = readConnection(reader, environment);
  const summary = reader.read('summary', parseBoolean);
  const task: Read<Task> = operation && taskReaders[operation](reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems };
  }
  return { ok: true, inputs: { connection, task, summary, unused: unusedInputs(getInput, task.operation) } };
}
