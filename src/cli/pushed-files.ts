import { execFile, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { inParallel } from '../client/client.ts';
import { CommandError } from '../command/command.ts';
import { quoted } from '../command/print.ts';
import { startErrorText } from '../command/system-errors.ts';
import { outputOf } from './checkout.ts';

/** A branch that a push creates or changes. */
export interface PushedBranch {
  readonly name: string;
  /** Undefined if the push creates the branch. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * Reads the input of a `pre-receive` hook. Omits tags, other refs, and branches that the push deletes. A symbolic ref
 * stands for the branch that it leads to.
 */
export async function readPush(input: Readable): Promise<readonly PushedBranch[]> {
  const updates = (await readText(input)).split('\n').flatMap((line) => {
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

async function readText(input: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of input) {
    size += piece.length;
    if (size > maxInputBytes)
      throw new CommandError('The push has too many branches and tags. Push fewer of them at once.');
    pieces.push(piece);
  }
  return String(Buffer.concat(pieces));
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
export async function* pushedFiles({ before, after }: PushedBranch): AsyncGenerator<readonly string[]> {
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
export async function withoutTakenOver(branch: string, { before, after }: PushedBranch, files: ReadonlySet<string>) {
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

const maxInputBytes = 16 * 1_024 * 1_024;

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
