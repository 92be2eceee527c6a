import { execFile, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  type CheckedLock,
  inParallel,
  isTransient,
  type KnownLock,
  ServiceError,
  steadyClock,
} from '../client/client.ts';
import { CommandError } from '../command/command.ts';
import { quoted } from '../command/print.ts';
import { startErrorText } from '../command/system-errors.ts';
import { foldCase } from '../interface/fold-case.ts';
import { pluralize } from '../interface/format.ts';
import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import { headBranch, outputOf } from './checkout.ts';
import { holderText } from './lock-text.ts';
import type { RemoteService } from './remote-command.ts';

interface ReceiveRequest {
  /** The stdin of a `pre-receive` hook. */
  readonly input: Readable;
  readonly environment: NodeJS.ProcessEnv;
  /** What happens to a push while the service does not answer. */
  readonly unreachable: 'refuse' | 'accept';
}

/**
 * Checks that nobody but the person who pushes holds a lock on a file that the push changes. Returns the locks that
 * refuse the push, and lines for that person.
 */
export async function checkPush(
  connect: () => Promise<RemoteService>,
  { input, environment, unreachable }: ReceiveRequest,
): Promise<{ isAccepted: boolean; locks: readonly KnownLock[]; lines: readonly string[] }> {
  const pusher = pusherOf(environment);
  const found = new Map<string, KnownLock>();
  let failure: string | undefined;
  let isAccepted = true;
  try {
    for (const branch of await readPush(input))
      for await (const names of pushedFiles(branch))
        for (const lock of await refusingLocks(connect, branch, names, pusher)) found.set(lock.path, lock);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    failure = `The locks on its files could not be checked at ${(await connect()).service}. ${error.message}`;
    // Any other failure, such as a revoked token, would let all later pushes through, too.
    isAccepted = unreachable === 'accept' && isTransient(error);
  }
  const locks = [...found.values()];
  isAccepted &&= locks.length === 0;
  const lines = locks.length > 0 ? refusalLines(locks, pusher) : failureLines(failure, isAccepted);
  // GitLab shows only lines with this prefix on its pages.
  const isGitLab = Boolean(environment['GL_USERNAME'] || environment['GL_ID']);
  return { isAccepted, locks, lines: isGitLab ? lines.map((line) => `GL-HOOK-ERR: ${line}`) : lines };
}

/** GitHub Enterprise Server ends all hooks of a push after 5 seconds. */
const responseMs = 4_000;

interface PushedFile {
  /** The name in git: a lock path is composed (NFC). */
  readonly name: string;
  readonly path: LockPath;
}

async function refusingLocks(
  connect: () => Promise<RemoteService>,
  branch: PushedBranch,
  names: readonly string[],
  pusher: string | undefined,
): Promise<readonly KnownLock[]> {
  // Other names cannot be locked.
  const files = names.flatMap((name): readonly PushedFile[] => {
    const path = parseLockPath(name);
    return path.ok ? [{ name, path: path.value }] : [];
  });
  if (files.length === 0) return [];
  const { client, workspace, interrupted } = await connect();
  const within = { deadline: steadyClock() + responseMs, signal: interrupted };
  const checked = await client.checkPaths({ workspace, paths: files.map(({ path }) => path) }, within);
  if (checked.kind === 'unsupported') throw checked.error;
  const ofOthers = checked.locks.filter(({ owner }) => pusher === undefined || owner !== pusher);
  const counting = ofOthers.filter(
    (lock) => checked.pushLocks === 'all' || lock.branch === undefined || lock.branch === branch.name,
  );
  return locksOnChanges(counting, branch, files);
}

/** Omits locks on files whose pushed versions come from the lock's branch, as after a merge of it. */
async function locksOnChanges(locks: readonly CheckedLock[], pushed: PushedBranch, files: readonly PushedFile[]) {
  if (locks.length === 0) return [];
  const head = headBranch();
  // On a service with --windows-paths, the case of a locked path may differ.
  const byPath = Map.groupBy(files, ({ path }) => foldCase(path));
  const namesOn = ({ path }: KnownLock) => byPath.get(foldCase(path))?.map(({ name }) => name) ?? [path];
  const kept: KnownLock[] = [];
  for (const [branch, some] of Map.groupBy(locks, (lock) => lock.branch ?? head)) {
    const names = new Set(some.flatMap(namesOn));
    // The pushed branch itself still has its version from before the push.
    const changed = branch === undefined ? names : await withoutTakenOver(branch, pushed, names);
    kept.push(...some.filter((lock) => namesOn(lock).some((name) => changed.has(name))));
  }
  return kept;
}

const maxNamed = 20;

function refusalLines(locks: readonly KnownLock[], pusher: string | undefined): readonly string[] {
  const which = pluralize(locks.length, 'file');
  const more = locks.length - maxNamed;
  return [
    pusher === undefined
      ? `The push is refused: it changes ${which} with a lock, and this server cannot identify the pusher.`
      : `The push of ${pusher} is refused: it changes ${which} that others have locked.`,
    ...locks.slice(0, maxNamed).map((lock) => `${lock.path} is held by ${holderText(lock)}.`),
    ...(more > 0 ? [`and ${more} more.`] : []),
    'Push without these changes, or ask the holders: "workspace-service lock ask PATH" puts you in line.',
  ];
}

function failureLines(failure: string | undefined, isAccepted: boolean): readonly string[] {
  if (failure === undefined) return [];
  return isAccepted
    ? [`The push is accepted without a check. ${failure}`]
    : [`The push is refused. ${failure}`, 'Push again later. If this lasts, contact the administrator of this server.'];
}

/** The variables in which GitLab, Gitea and Forgejo, GitHub Enterprise Server, and web servers name who pushes. */
const pusherVariables = ['GL_USERNAME', 'GITEA_PUSHER_NAME', 'GITHUB_USER_LOGIN', 'REMOTE_USER'] as const;

/** The owner of the locks of the person who pushes; undefined if unknown. */
function pusherOf(environment: NodeJS.ProcessEnv): string | undefined {
  // Gitea and Forgejo name the owner of the repository for each of its deploy keys.
  if ((environment['GITEA_DEPLOY_KEY_ID'] ?? '0') !== '0') return undefined;
  return pusherVariables.map((variable) => environment[variable]).find((value) => value);
}

/** A branch that a push creates or changes. */
interface PushedBranch {
  readonly name: string;
  /** Undefined if the push creates the branch. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * Reads the input of a `pre-receive` hook. Omits tags, other refs, and branches that the push deletes. A symbolic ref
 * stands for the branch that it leads to.
 */
async function readPush(input: Readable): Promise<readonly PushedBranch[]> {
  const updates = (await text(input)).split('\n').flatMap((line) => {
    if (line === '') return [];
    const [, before = '', after = '', ref] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    if (ref === undefined)
      throw new CommandError(
        'stdin must have lines of the form "OLD NEW REF". Run --receive as a pre-receive hook.',
        2,
      );
    return isZero(after) ? [] : [{ ref, before: isZero(before) ? undefined : before, after }];
  });
  const targets = new Map<string, string>();
  await inParallel(updates, async ({ ref }) => void targets.set(ref, await targetOf(ref)));
  return updates.flatMap(({ ref, ...commits }) => {
    const target = targets.get(ref) ?? ref;
    return target.startsWith(branchPrefix) ? [{ name: target.slice(branchPrefix.length), ...commits }] : [];
  });
}

/** The ref that git changes: another one if this one is symbolic, even if that does not exist yet. */
async function targetOf(ref: string): Promise<string> {
  try {
    return (await run('git', ['symbolic-ref', '--quiet', ref])).stdout.replace(/\n$/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === notSymbolic) return ref;
    throw new CommandError(`git could not resolve ${quoted(ref)}: ${startErrorText(error)}`);
  }
}

/** Lists of files, which may name a file again. */
async function* pushedFiles({ before, after }: PushedBranch): AsyncGenerator<readonly string[]> {
  const changes =
    before === undefined
      ? // Only commits that are on no branch: other refs are not checked. A merge counts for files that differ from any
        // of its parents: it may take back the version of one.
        ['log', '-m', '--root', '--no-show-signature', '--format=', ...namesOnly, after, '--not', '--branches']
      : ['diff-tree', '-r', ...namesOnly, before, after];
  let names: string[] = [];
  for await (const more of namesFrom(changes)) {
    names.push(...more);
    if (names.length < maxListed) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}

/** Omits files if their pushed versions all come from this branch of the repository. */
async function withoutTakenOver(branch: string, { before, after }: PushedBranch, files: ReadonlySet<string>) {
  const head = outputOf(noReplace, 'rev-parse', '--quiet', '--verify', `${branchPrefix}${branch}^{commit}`)?.trim();
  if (head === undefined) return files;
  const differing = await filesThatDiffer(head, after, files);
  return before === undefined
    ? // A new branch may have an earlier version of the other branch, from where it left it.
      differing.intersection(await changedSince(head, after, files))
    : // A push may also take back what only the pushed branch had.
      differing.union(await changedSince(head, before, files));
}

/** Files that a commit has changed since it has left the history of another. */
async function changedSince(head: string, commit: string, files: ReadonlySet<string>) {
  const bases = outputOf(noReplace, 'merge-base', '--all', head, commit)?.trim().split('\n');
  let changed: ReadonlySet<string> = bases === undefined ? files : new Set();
  for (const base of bases ?? []) changed = changed.union(await filesThatDiffer(base, commit, files));
  return changed;
}

async function filesThatDiffer(one: string, other: string, files: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const differing = new Set<string>();
  for await (const names of namesFrom(['diff-tree', '-r', ...namesOnly, one, other])) {
    for (const name of names) if (files.has(name)) differing.add(name);
  }
  return differing;
}

const run = promisify(execFile);

/** The exit code of `git symbolic-ref` for other refs. */
const notSymbolic = 1;

const maxListed = 16_000;

const branchPrefix = 'refs/heads/';

const namesOnly = ['--no-renames', '--name-only', '-z'];

const isZero = (commit: string): boolean => /^0+$/.test(commit);

/** Anyone who may push can replace objects for git, and so hide changes. */
const noReplace = '--no-replace-objects';

/** Runs git in the environment of the hook, whose variables lead to the objects of the push. */
async function* namesFrom(args: readonly string[]): AsyncGenerator<readonly string[]> {
  const git = spawn('git', [noReplace, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  git.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, maxErrorLength);
  });
  const failed = new Promise<string | undefined>((resolve) => {
    git.once('error', (error) => resolve(`${startErrorText(error)}.`));
    git.once('close', (code) => resolve(code === 0 ? undefined : stderr.trim() || `it ended with ${code}`));
  });
  let rest = '';
  for await (const text of git.stdout.setEncoding('utf8')) {
    const names = `${rest}${text}`.split('\0');
    rest = names.pop() ?? '';
    yield names;
  }
  const reason = await failed;
  if (reason !== undefined) throw new CommandError(`git could not list the files of the push: ${reason}`);
}

const maxErrorLength = 1_000;
