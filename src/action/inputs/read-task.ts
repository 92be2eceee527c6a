import { parseWorkspaceId, type WorkspaceId } from '../../client/workspace-id.ts';
import type { Duration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import { complete, type Read, type Reader } from './reader.ts';
import { runBranch } from './run-branch.ts';
import type { OperationName } from './table.ts';
import type {
  ListBranchesTask,
  ListLocksTask,
  LockTask,
  PathLines,
  RegisterHookTask,
  SyncTask,
  Task,
  UnlockTarget,
  UnlockTask,
} from './task.ts';
import { lines, parseBoolean, parseDurationBetween, parseJsonObject, words } from './values.ts';

const longestWait: Duration = { seconds: 30 * 86_400 };
const parseWait = parseDurationBetween({ seconds: 0 }, longestWait);

const parseWorkspace = (text: string): Parsed<WorkspaceId> => {
  const workspace = parseWorkspaceId(text);
  return workspace.ok ? workspace : refused(`${workspace.why} \`operation: list-workspaces\` lists the ids there are.`);
};

const parseText =
  (why: string) =>
  (text: string): Parsed<string> =>
    text === '' || /\p{Cc}/u.test(text) ? refused(why) : accepted(text);

const parseHookUrl = (text: string): Parsed<string> =>
  URL.canParse(text) && /^https?:/i.test(text) ? accepted(text) : refused('It has to be an https address.');

const optionalJsonObject = (text: string): Parsed<Readonly<Record<string, unknown>>> =>
  text === '' ? accepted({}) : parseJsonObject(text);

const readWorkspace = ({ read }: Reader): Read<WorkspaceId> => read('workspace', parseWorkspace);

function readPaths({ read, raw }: Reader): Read<PathLines> {
  const glob = read('glob', parseBoolean);
  return glob === undefined ? undefined : { lines: lines(raw.path), glob };
}

function readSync(reader: Reader, environment: NodeJS.ProcessEnv): Read<SyncTask> {
  const parseBranch = (text: string): Parsed<string> => {
    const branch = text || runBranch(environment);
    return branch === undefined
      ? refused('The run is not of a branch, so the branch to sync has to be named.')
      : parseText('It has to be the name of a branch.')(branch);
  };
  return complete<SyncTask>({
    operation: 'sync',
    workspace: readWorkspace(reader),
    branch: reader.read('branch', parseBranch),
    wait: reader.read('wait', parseWait),
  });
}

function readLock(reader: Reader): Read<LockTask> {
  const { read, raw, complain } = reader;
  if (lines(raw.path).length === 0) complain('path', 'Name what to lock, one path a line.');
  return complete<LockTask>({
    operation: 'lock',
    workspace: readWorkspace(reader),
    paths: readPaths(reader),
    type: read('type', parseText('It has to be a kind of lock, such as exclusive.')),
    ttl: read('ttl', parseTtl),
    wait: read('wait', parseWait),
    autoRelease: read('auto-release', parseBoolean),
  });
}

function readUnlockTarget(reader: Reader): Read<UnlockTarget> {
  const { raw, complain } = reader;
  const paths = readPaths(reader);
  if (paths === undefined) return undefined;
  const targets: UnlockTarget[] = [];
  if (paths.lines.length > 0) targets.push({ kind: 'paths', paths });
  if (raw.locks !== '') targets.push({ kind: 'locks', json: raw.locks });
  if (raw['locks-file'] !== '') targets.push({ kind: 'locks-file', file: raw['locks-file'] });
  const [target, another] = targets;
  if (target === undefined) complain('path', 'Name what to release: with `path`, `locks` or `locks-file`.');
  else if (another !== undefined) complain('path', 'Give one of `path`, `locks` and `locks-file`, not several.');
  return target;
}

function readUnlock(reader: Reader): Read<UnlockTask> {
  return complete<UnlockTask>({
    operation: 'unlock',
    workspace: readWorkspace(reader),
    target: readUnlockTarget(reader),
    force: reader.read('force', parseBoolean),
  });
}

function readListLocks(reader: Reader): Read<ListLocksTask> {
  const { read, raw } = reader;
  return complete<ListLocksTask>({
    operation: 'list-locks',
    workspace: readWorkspace(reader),
    paths: readPaths(reader),
    changedFiles: read('changed-files', parseBoolean),
    failIfLocked: read('fail-if-locked', parseBoolean),
    ignoredOwners: lines(raw['ignore-owner']),
    githubToken: raw['github-token'],
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

export function readTask(reader: Reader, operation: OperationName, environment: NodeJS.ProcessEnv): Read<Task> {
  switch (operation) {
    case 'sync':
      return readSync(reader, environment);
    case 'lock':
      return readLock(reader);
    case 'unlock':
      return readUnlock(reader);
    case 'list-locks':
      return readListLocks(reader);
    case 'register-hook':
      return readRegisterHook(reader);
    case 'list-workspaces':
      return { operation: 'list-workspaces' };
    case 'list-branches':
      return complete<ListBranchesTask>({ operation: 'list-branches', workspace: readWorkspace(reader) });
  }
}
