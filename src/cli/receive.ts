import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CheckedLock } from '../client/check-paths.ts';
import type { KnownLock } from '../client/known-lock.ts';
import { ServiceError } from '../client/service-error.ts';
import { steadyClock } from '../client/time.ts';
import { CommandError, type CommandOutput, type ProgramContext } from '../command/command.ts';
import { printLines, quoted } from '../command/print.ts';
import { foldCase } from '../interface/fold-case.ts';
import { pluralize } from '../interface/format.ts';
import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import { heldText } from '../locks/messages.ts';
import { git, headBranch, outputOf, runGit } from './checkout.ts';
import type { Connect } from './connect.ts';

/** Checks, as a `pre-receive` hook, that nobody but the pusher holds a lock on a file that the push changes. */
export async function checkPush(
  connect: Connect,
  { io, environment }: Pick<ProgramContext, 'io' | 'environment'>,
): Promise<CommandOutput> {
  const pusher = pusherOf(environment);
  let locks: readonly KnownLock[] = [];
  let reasons: readonly string[];
  try {
    locks = await refusingLocks(connect, await readPush(io.input()), pusher);
    reasons = locks.length > 0 ? refusalLines(locks, pusher) : [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    reasons = [
      `The push is refused. The locks on its files could not be checked at ${(await connect()).service}. ${error.message}`,
      'Push again later. If this lasts, contact the administrator of this server.',
    ];
  }
  // GitLab shows only lines with this prefix on its pages.
  const isGitLab = Boolean(environment['GL_USERNAME'] || environment['GL_ID']);
  printLines(io.stderr, isGitLab ? reasons.map((line) => `GL-HOOK-ERR: ${line}`) : reasons);
  return { document: { locks: locks.map(({ raw }) => raw) }, exitCode: reasons.length > 0 ? 1 : 0 };
}

/** Time limit of all requests of a push. GitHub Enterprise Server ends all hooks of a push after 5 seconds. */
const responseMs = 4_000;

interface PushedFile {
  /** The name in git: a lock path is composed (NFC). */
  readonly name: string;
  readonly path: LockPath;
}

async function refusingLocks(
  connect: Connect,
  branches: readonly PushedBranch[],
  pusher: string | undefined,
): Promise<readonly KnownLock[]> {
  const pushed = branches.map((branch) => ({ branch, files: pushedFiles(branch) }));
  const paths = [...new Set(pushed.flatMap(({ files }) => files.map(({ path }) => path)))];
  if (paths.length === 0) return [];
  const { client, workspace, interrupted } = await connect();
  const within = { deadline: steadyClock() + responseMs, signal: interrupted };
  const checked = await client.checkPaths({ workspace, paths }, within);
  const ofOthers = checked.locks.filter(({ owner }) => pusher === undefined || owner !== pusher);
  const keys = new Set(paths.map(foldCase));
  const refusing = new Set<KnownLock>();
  for (const { branch, files } of pushed) {
    // Files that only other branches of the push change.
    const others = keys.difference(new Set(files.map(({ path }) => foldCase(path))));
    const counting = ofOthers.filter(
      (lock) =>
        !others.has(foldCase(lock.path)) &&
        (checked.pushLocks === 'all' || lock.branch === undefined || lock.branch === branch.name),
    );
    for (const lock of locksOnChanges(counting, branch, files)) refusing.add(lock);
  }
  return [...refusing];
}

/** Omits locks on files whose pushed versions come from the lock's branch, as after a merge of it. */
function locksOnChanges(locks: readonly CheckedLock[], pushed: PushedBranch, files: readonly PushedFile[]) {
  if (locks.length === 0) return [];
  const head = headBranch();
  // On a service with --windows-paths, the case of a locked path may differ.
  const byPath = Map.groupBy(files, ({ path }) => foldCase(path));
  const namesOn = ({ path }: KnownLock) => byPath.get(foldCase(path))?.map(({ name }) => name) ?? [path];
  const kept: KnownLock[] = [];
  for (const [branch, some] of Map.groupBy(locks, (lock) => lock.branch ?? head)) {
    const names = new Set(some.flatMap(namesOn));
    // The pushed branch itself still has its version from before the push.
    const changed = branch === undefined ? names : withoutTakenOver(branch, pushed, names);
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
    ...locks.slice(0, maxNamed).map((lock) => `${heldText(lock.path, lock)}.`),
    ...(more > 0 ? [`and ${more} more.`] : []),
    'Push without these changes, or ask the holders: "workspace-service lock ask PATH" puts you in line.',
  ];
}

/** The variables in which GitLab, Gitea and Forgejo, GitHub Enterprise Server, and web servers name who pushes. */
const pusherVariables = ['GL_USERNAME', 'GITEA_PUSHER_NAME', 'GITHUB_USER_LOGIN', 'REMOTE_USER'] as const;

/** The owner of the locks of the person who pushes; undefined if unknown. */
function pusherOf(environment: NodeJS.ProcessEnv): string | undefined {
  // Gitea and Forgejo name the owner of the repository for each of its deploy keys.
  if ((environment['GITEA_DEPLOY_KEY_ID'] ?? '0') !== '0') return undefined;
  return pusherVariables.map((variable) => environment[variable]).find((value) => value);
}

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
  return (await text(input)).split('\n').flatMap((line) => {
    if (line === '') return [];
    const [, before = '', after = '', ref] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.+)$/.exec(line) ?? [];
    if (ref === undefined)
      throw new CommandError(
        'stdin must have lines of the form "OLD NEW REF". Run --receive as a pre-receive hook.',
        2,
      );
    const target = isZero(after) ? '' : targetOf(ref);
    if (!target.startsWith(branchPrefix)) return [];
    return [{ name: target.slice(branchPrefix.length), before: isZero(before) ? undefined : before, after }];
  });
}

/** The ref that git changes: another one if this one is symbolic, even if that does not exist yet. */
function targetOf(ref: string): string {
  const { status, stdout } = runGit(['symbolic-ref', '--quiet', ref]);
  if (status === 0) return stdout.replace(/\n$/, '');
  // The exit code for other refs.
  if (status === 1) return ref;
  throw new CommandError(`git could not resolve ${quoted(ref)}.`);
}

function pushedFiles({ before, after }: PushedBranch): readonly PushedFile[] {
  const names = listNames(
    before === undefined
      ? // Only commits that are on no branch: other refs are not checked. A merge counts for files that differ from any
        // of its parents: it may take back the version of one.
        ['log', '-m', '--root', '--no-show-signature', '--format=', ...namesOnly, after, '--not', '--branches']
      : ['diff-tree', '-r', ...namesOnly, before, after],
  );
  // Other names cannot be locked.
  return [...names].flatMap((name) => {
    const path = parseLockPath(name);
    return path.ok ? [{ name, path: path.value }] : [];
  });
}

/** Omits files if their pushed versions all come from this branch of the repository. */
function withoutTakenOver(branch: string, { before, after }: PushedBranch, files: ReadonlySet<string>) {
  const head = outputOf(noReplace, 'rev-parse', '--quiet', '--verify', `${branchPrefix}${branch}^{commit}`)?.trim();
  if (head === undefined) return files;
  const differing = filesThatDiffer(head, after, files);
  return before === undefined
    ? // A new branch may have an earlier version of the other branch, from where it left it.
      differing.intersection(changedSince(head, after, files))
    : // A push may also take back what only the pushed branch had.
      differing.union(changedSince(head, before, files));
}

/** Files that a commit has changed since it has left the history of another. */
function changedSince(head: string, commit: string, files: ReadonlySet<string>): ReadonlySet<string> {
  const bases = outputOf(noReplace, 'merge-base', '--all', head, commit)?.trim().split('\n');
  let changed: ReadonlySet<string> = bases === undefined ? files : new Set();
  for (const base of bases ?? []) changed = changed.union(filesThatDiffer(base, commit, files));
  return changed;
}

const filesThatDiffer = (one: string, other: string, files: ReadonlySet<string>): ReadonlySet<string> =>
  files.intersection(listNames(['diff-tree', '-r', ...namesOnly, one, other]));

const branchPrefix = 'refs/heads/';

const namesOnly = ['--no-renames', '--name-only', '-z'];

const isZero = (commit: string): boolean => /^0+$/.test(commit);

/** Anyone who may push can replace objects for git, and so hide changes. */
const noReplace = '--no-replace-objects';

/** Runs git in the environment of the hook, whose variables lead to the objects of the push. It may have many files. */
const listNames = (args: readonly string[]): ReadonlySet<string> =>
  new Set(git('list the files of the push', [noReplace, ...args], { timeout: undefined }).split('\0'));
