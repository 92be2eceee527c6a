import { CommandError } from '../definition/command.ts';
import { startErrorText } from '../definition/system-errors.ts';
import { runGit } from './checkout.ts';

/** Staged files that have the attribute `lockable` of Git LFS, as paths from the root of the repository. */
export function stagedLockableFiles(): readonly string[] {
  const folder = git(['rev-parse', '--show-toplevel']).replace(/\r?\n$/, '');
  const names = withoutMerged(stagedSince(folder), folder);
  if (names.length === 0) return [];
  const fields = git(
    ['check-attr', '-z', '--stdin', 'lockable'],
    folder,
    names.map((name) => `${name}\0`).join(''),
  ).split('\0');
  // Three fields per file: name, attribute, value.
  return names.filter((_, index) => ['set', 'true'].includes(fields[3 * index + 2] ?? ''));
}

/** Omits files that a merge takes unchanged from the other branch: the people who changed them there held the locks. */
function withoutMerged(names: readonly string[], folder: string): readonly string[] {
  const merging = runGit(['rev-parse', '--quiet', '--verify', 'MERGE_HEAD'], { cwd: folder }).status === 0;
  if (!merging) return names;
  const alsoChangedHere = new Set(stagedSince(folder, 'MERGE_HEAD'));
  return names.filter((name) => alsoChangedHere.has(name));
}

/** Files that differ from a commit, including deleted ones. A renamed file is listed with its old and its new name. */
const stagedSince = (folder: string, ...commit: readonly string[]): readonly string[] =>
  git(['diff', '--cached', '--name-only', '--no-renames', '--no-relative', '-z', ...commit, '--'], folder)
    .split('\0')
    .filter((name) => name !== '');

function git(args: readonly string[], folder?: string, input?: string): string {
  const { status, error, stdout, stderr } = runGit(args, { cwd: folder, input });
  if (error !== undefined) throw new CommandError(`git could not list the staged files: ${startErrorText(error)}.`);
  if (status !== 0)
    throw new CommandError(`git could not list the staged files: ${stderr.trim() || `it ended with ${status}`}`);
  return stdout;
}
