import { durationUpTo } from '../../../interface/duration.ts';
import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, type LockPath, parseHeldPath, parseLockPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { parseTokenOwner } from '../../tokens/new-token.ts';
import { CommandError } from '../command.ts';
import { optional, rest, toggle, withDefault } from '../flags.ts';
import { lockTableText } from '../output/locks.ts';
import { shownTime } from '../output/print.ts';
import { parsePrefix } from '../values.ts';
import type { CheckedPath } from './check.ts';
import { defineRemoteCommand, shown } from './remote-command.ts';

const aboutPaths = 'Paths begin at the root of the repository.';

export const lockTake = defineRemoteCommand({
  name: 'lock take',
  summary: 'take the locks on all of these paths, or on none',
  details: [aboutPaths],
  arguments: { paths: rest('PATH', 'a path to lock', (text) => canonicalLockPath(text)) },
  flags: {
    ttl: withDefault('DURATION', 'how long the locks last, unless they are released before', '1h', parseTtl),
    note: optional('TEXT', 'note for anyone who finds the path locked', 'default none', parseNote),
    wait: optional(
      'DURATION',
      'how long to wait for paths that others hold',
      'default not at all',
      durationUpTo({ seconds: 30 * 86_400 }, '30d'),
    ),
  },
  example: 'Content/Hero.uasset --ttl 4h --note Armour',
  async run({ flags: { ttl, note, wait = { seconds: 0 } }, arguments: { paths } }, connect) {
    const { acquireRemoteLocks } = await import('./take.ts');
    const locks = await acquireRemoteLocks(await connect(), { paths, ttl, note: note ?? undefined, wait });
    return {
      document: { locks: locks.map(({ raw }) => raw) },
      lines: locks.map(
        ({ path, expires_at }) => `Locked ${path}${expires_at ? ` until ${shownTime(expires_at)}` : ''}.`,
      ),
    };
  },
});

export const noSuchLock = 'No such path is locked.';

/** Which locks to list. */
export const listFlags = {
  prefix: optional('TEXT', 'only paths that begin so, such as Content/', 'default all', parsePrefix),
  owner: optional('OWNER', 'only the locks of this owner; case counts', 'default all', parseTokenOwner),
} as const;

export const remoteLockList = defineRemoteCommand({
  name: 'lock list',
  summary: 'list the locks that are held in a workspace',
  flags: listFlags,
  example: '--prefix Content/',
  async run({ flags: filter }, connect) {
    const { client, workspace, within, tell } = await connect();
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within());
    if (incomplete !== undefined) tell(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: lockTableText(items.map(shown), client.serverNow(), noSuchLock),
    };
  },
});

/** How locks are released. */
export const releaseFlags = {
  force: toggle('release the lock although somebody else holds it'),
  reason: optional('TEXT', 'why, for the audit', 'default none', parseNote),
} as const;

export const remoteLockRelease = defineRemoteCommand({
  name: 'lock release',
  summary: 'release locks: your own, or with --force those that somebody else has left behind',
  details: [aboutPaths],
  arguments: { paths: rest('PATH', 'a locked path', (text) => canonicalLockPath(text, parseHeldPath)) },
  flags: releaseFlags,
  example: 'Content/Hero.uasset',
  async run({ flags: { force, reason }, arguments: { paths } }, connect) {
    if (reason && !force) throw new CommandError('--reason says why a lock is taken away: give it with --force.', 2);
    const { releaseRemoteLocks } = await import('./release.ts');
    const remote = await connect();
    const { released, problems } = await releaseRemoteLocks(remote, { paths, force, reason: reason ?? undefined });
    const [first, ...more] = problems;
    if (more.length > 0) for (const problem of problems) remote.tell(problem);
    return {
      document: { released },
      lines: released.map((path) => `Released ${path}.`),
      failure: more.length > 0 ? `${problems.length} paths were not released.` : first,
    };
  },
});

/** Omits names that are not valid lock paths: requiring a lock on them would make the files impossible to commit. */
const lockPathsIn = (names: readonly string[]): readonly LockPath[] =>
  names.flatMap((name) => {
    const path = parseLockPath(name);
    return path.ok ? [path.value] : [];
  });

export const lockCheck = defineRemoteCommand({
  name: 'lock check',
  summary: 'check that you hold the locks on paths, or on the files that you are about to commit',
  details: [
    aboutPaths,
    'It fails if one of them is free or held by somebody else, so it can be a git hook.',
    'With --staged it asks about the files that .gitattributes calls lockable. If none is staged, it succeeds without asking.',
  ],
  arguments: {
    paths: rest('PATH', 'a path to check', (text) => canonicalLockPath(text, parseHeldPath), { mayBeNone: true }),
  },
  flags: { staged: toggle('check the lockable files that are staged in git') },
  example: '--staged',
  async run({ flags: { staged }, arguments: { paths: named } }, connect) {
    if (staged === named.length > 0) throw new CommandError('Name the paths to check, or give --staged; not both.', 2);
    const paths = staged ? lockPathsIn((await import('./staged-files.ts')).stagedLockableFiles()) : named;
    // No output, as expected of a git hook that succeeds.
    if (paths.length === 0) return { document: { paths: [] }, lines: [] };
    const { checkLocks, checkText } = await import('./check.ts');
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

function adviceOn(refused: readonly CheckedPath[]): string {
  const free = refused.some(({ status }) => status === 'free');
  const held = refused.some(({ status }) => status === 'theirs');
  return [
    ...(free ? ['Take what is free with "workspace-service lock take PATH".'] : []),
    ...(held ? ['Ask who holds the others, or wait for them with --wait.'] : []),
  ].join(' ');
}
