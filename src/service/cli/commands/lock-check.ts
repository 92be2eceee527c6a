import { canonicalLockPath, type LockPath, parseHeldPath, parseLockPath } from '../../../interface/lock-path.ts';
import { oneOf } from '../../../interface/one-of.ts';
import { CommandError } from '../definition/command.ts';
import { optional, rest, toggle, withDefault } from '../definition/flags.ts';
import { parseFile } from '../definition/values.ts';
import { printLines } from '../output/table.ts';
import type { CheckedPath } from '../remote/check.ts';
import { pusherVariables } from '../remote/pusher.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';

export const lockCheck = defineRemoteCommand({
  name: 'lock check',
  summary: 'check that you hold the locks on paths, or on the files that you are about to commit',
  details: [
    pathsHelp,
    'It fails if one of them is free or held by someone else. This makes it usable as a git hook.',
    'With --staged, it checks the staged files that .gitattributes marks as lockable. Without any, it sends no request.',
    'With --receive, it is the pre-receive hook of a git server. It refuses a push that changes a file that someone else has locked.',
    `The first of ${pusherVariables.join(', ')} that is set names the pusher. If none is, or if GITEA_DEPLOY_KEY_ID is that of a key, all locks count.`,
  ],
  arguments: {
    paths: rest('PATH', 'a path to check', (text) => canonicalLockPath(text, parseHeldPath)),
  },
  flags: {
    staged: toggle('check the lockable files that are staged in git'),
    receive: toggle('check the files that a push changes'),
    owners: optional('FILE', 'with --receive, lines NAME = OWNER for other names on the git server', parseFile),
    unreachable: withDefault(
      'ACTION',
      'with --receive, what happens to a push while the service does not answer: refuse or accept',
      oneOf(['refuse', 'accept']),
      'refuse',
    ),
  },
  example: '--staged',
  async run({ flags, arguments: { paths: named }, io, environment, setExitCode }, connect) {
    const { staged, receive, owners: ownersFile, unreachable } = flags;
    if ([staged, receive, named.length > 0].filter(Boolean).length !== 1)
      throw new CommandError('Pass either paths, --staged or --receive.', 2);
    if (receive) {
      const { checkPush } = await import('../remote/receive.ts');
      const request = { input: io.input(), environment, ownersFile, unreachable };
      const { isAccepted, locks, lines } = await checkPush(connect, request);
      printLines(io.stderr, lines);
      if (!isAccepted) setExitCode(1);
      return { document: { locks: locks.map(({ raw }) => raw) }, lines: [] };
    }
    const paths = staged ? lockPathsIn((await import('../remote/staged-files.ts')).stagedLockableFiles()) : named;
    // No output, as expected of a git hook that succeeds.
    if (paths.length === 0) return { document: { paths: [] }, lines: [] };
    const { checkLocks, checkStagedLocks, checkText } = await import('../remote/check.ts');
    const checked = await (staged ? checkStagedLocks(connect, paths) : checkLocks(await connect(), paths));
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
    ...(held ? ['Ask the holders of the others, or wait with "lock take PATH --wait 15m".'] : []),
  ].join(' ');
}
