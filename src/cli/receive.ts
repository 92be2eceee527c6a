import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type CheckedLock, isTransient, type KnownLock, ServiceError, steadyClock } from '../client/client.ts';
import { CommandError } from '../command/command.ts';
import { quoted } from '../command/print.ts';
import { withFileErrors } from '../command/system-errors.ts';
import { foldCase } from '../interface/fold-case.ts';
import { errorMessage, pluralize } from '../interface/format.ts';
import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import { headBranch } from './checkout.ts';
import { holderText } from './lock-text.ts';
import { type PushedBranch, pushedFiles, readPush, withoutTakenOver } from './pushed-files.ts';
import type { RemoteService } from './remote-command.ts';

interface ReceiveRequest {
  /** The stdin of a `pre-receive` hook. */
  readonly input: Readable;
  readonly environment: NodeJS.ProcessEnv;
  readonly ownersFile: string | undefined;
  /** What happens to a push while the service does not answer. */
  readonly unreachable: 'refuse' | 'accept';
}

/**
 * Checks that nobody but the person who pushes holds a lock on a file that the push changes. Returns the locks that
 * refuse the push, and lines for that person.
 */
export async function checkPush(
  connect: () => Promise<RemoteService>,
  { input, environment, ownersFile, unreachable }: ReceiveRequest,
): Promise<{ isAccepted: boolean; locks: readonly KnownLock[]; lines: readonly string[] }> {
  const pusher = await pusherOf(environment, ownersFile);
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

/** The owner of the locks of the person who pushes; undefined if unknown. The file maps names of the forge to owners. */
async function pusherOf(environment: NodeJS.ProcessEnv, ownersFile: string | undefined) {
  // Gitea and Forgejo name the owner of the repository for each of its deploy keys.
  if ((environment['GITEA_DEPLOY_KEY_ID'] ?? '0') !== '0') return undefined;
  const owners = ownersFile === undefined ? undefined : await readOwners(ownersFile);
  const name = pusherVariables.map((variable) => environment[variable]).find((value) => value);
  if (name === undefined || owners === undefined) return name;
  // Anyone may be able to take a name at the forge that is the owner of someone with another name there.
  return owners.get(name) ?? ([...owners.values()].includes(name) ? undefined : name);
}

/** Lines `NAME = OWNER`, and comments. */
async function readOwners(file: string): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  const lines = (await readOwnersFile(file)).split('\n');
  for (const [index, line] of lines.entries()) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const refuse = (reason: string) => new CommandError(`Line ${index + 1} of ${file} cannot be used. ${reason}`, 2);
    const [, name, value = ''] = /^([^=]*[^=\s])\s*=\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === '') throw refuse('Write NAME = OWNER.');
    if (owners.has(name)) throw refuse('An earlier line has the same name.');
    owners.set(name, value.normalize('NFC'));
  }
  return owners;
}

async function readOwnersFile(file: string): Promise<string> {
  try {
    return await withFileErrors(file, readFile(file, 'utf8'));
  } catch (error) {
    const reason = `The file ${quoted(file)} cannot be used: ${errorMessage(error)}.`;
    throw new CommandError(error instanceof CommandError ? error.message : reason, 2);
  }
}
