import { canonicalLockPath, type LockPath, parseHeldPath, parseLockPath } from '../../../interface/lock-path.ts';
import { CommandError } from '../definition/command.ts';
import { rest, toggle } from '../definition/flags.ts';
import type { CheckedPath } from '../remote/check.ts';
import { aboutPaths, defineRemoteCommand } from '../remote/remote-command.ts';

export const lockCheck = defineRemoteCommand({
  name: 'lock check',
  summary: 'check that you hold the locks on paths, or on the files that you are about to commit',
  details: [
    aboutPaths,
    'It fails if one of them is free or held by someone else. This makes it usable as a git hook.',
    'With --staged, it checks the staged files that .gitattributes marks as lockable. Without any, it sends no request.',
  ],
  arguments: {
    paths: rest('PATH', 'a path to check', 'default none', (text) => canonicalLockPath(text, parseHeldPath)),
  },
  flags: { staged: toggle('check the lockable files that are staged in git') },
  example: '--staged',
  async run({ flags: { staged }, arguments: { paths: named } }, connect) {
    if (staged === named.length > 0) throw new CommandError('Name the paths to check, or give --staged; not both.', 2);
    const paths = staged ? lockPathsIn((await import('../remote/staged-files.ts')).stagedLockableFiles()) : named;
    // No output, as expected of a git hook that succeeds.
    if (paths.length === 0) return { document: { paths: [] }, lines: [] };
    const { checkLocks, checkText } = await import('../remote/check.ts');
    const checked = await checkLocks(await connect(), paths);
    const refused = checked.filter(({ status }) => status !== 'yours');
    const document = { paths: checked.map(({ path, status, lock }) => ({ path, status, lock: lock?.raw ?? null })) };
    if (refused.length === 0) return { document, lines: staged ? [] : checked.map(checkText) };
    return {
      document,
      lines: (staged ? refused : checked).map(checkText),
      failure: `You do not hold ${refused.length} of ${checked.length} ${checked.length === 1 ? 'path' : 'paths'}. ${adviceOn(refused)}`,
    };
  },
});

/** Omits names that are not valid lock paths: requiring a lock on them would make the files impossible to commit. */
const lockPathsIn = (names: readonly string[]): readonly LockPath[] =>
  names.flatMap((name) => {
    const path = parseLockPath(name);
    return path.ok ? [path.value] : [];
  });

function adviceOn(refused: readonly CheckedPath[]): string {
  const free = refused.some(({ status }) => status === 'free');
  const held = refused.some(({ status }) => status === 'theirs');
  return [
    ...(free ? ['Lock the free paths with "workspace-service lock take PATH".'] : []),
    ...(held ? ['For the others, contact their holders, or wait with "lock take PATH --wait 15m".'] : []),
  ].join(' ');
}
