import type { JsonObject } from '../../client/json.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../client/workspace-id.ts';
import type { Duration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import { readHandedLocks } from '../locks/handed-locks.ts';
import { readPathLines } from './path-lines.ts';
import { complete, type Read, type Reader } from './reader.ts';
import { runBranch } from './run-branch.ts';
import type { OperationName } from './table.ts';
import type {
  ListBranchesTask,
  ListLocksTask,
  LockScope,
  LockTask,
  RegisterHookTask,
  SyncTask,
  Task,
  UnlockTarget,
  UnlockTask,
} from './task.ts';
import {
  isToken,
  lines,
  parseBoolean,
  parseDurationBetween,
  parseJsonObject,
  parseLossReaction,
  words,
} from './values.ts';

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

const optionalJsonObject = (text: string): Parsed<JsonObject> => (text === '' ? accepted({}) : parseJsonObject(text));

const readWorkspace = ({ read }: Reader): Read<WorkspaceId> => read('workspace', parseWorkspace);

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
    paths: readPathLines(reader),
    type: read('type', parseText('It has to be a kind of lock, such as exclusive.')),
    ttl: read('ttl', parseTtl),
    wait: read('wait', parseWait),
    autoRelease: read('auto-release', parseBoolean),
    onLost: read('on-lost', parseLossReaction),
  });
}

function readUnlockTarget(reader: Reader): Read<UnlockTarget> {
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
      const locks = read('locks', readHandedLocks);
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
    target: readUnlockTarget(reader),
    force: reader.read('force', parseBoolean),
  });
}

const parseGitHubToken = (text: string): Parsed<string> =>
  isToken(text)
    ? accepted(text)
    : refused(
        'With `changed-files: true` it has to be a token of GitHub, in one piece: left out, it is that of the job.',
      );

function readLockScope(reader: Reader): Read<LockScope> {
  const { read, raw, complain } = reader;
  const paths = readPathLines(reader);
  const changedFiles = read('changed-files', parseBoolean);
  if (changedFiles === undefined) return undefined;
  if (!changedFiles) return paths && { kind: 'paths', paths };
  if (raw.path !== '') {
    complain('path', 'With `changed-files: true` the paths are those of the pull request or push: give one of both.');
  }
  const githubToken = read('github-token', parseGitHubToken);
  // A wrong one is told with the connection.
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
