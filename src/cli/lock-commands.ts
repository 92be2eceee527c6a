import type { Command } from '../command/command.ts';
import { CommandError, defineCommand } from '../command/command.ts';
import { deliberateToggle, optional, required, rest } from '../command/flags.ts';
import { textTable } from '../command/print.ts';
import { parseTtl } from '../interface/duration.ts';
import { formatRelativeTime, timeCell } from '../interface/format.ts';
import { canonicalLockPath, parseHeldPath, parseNote, pathKeptMinutes } from '../interface/lock-path.ts';
import { runFlags, takeFlags } from './acquire-flags.ts';
import { allowHttp, defineRemoteCommand, variables } from './connect.ts';

/**
 * The `lock` commands. Most of their code is loaded when they run, because people and jobs wait for them, and loading
 * takes longer than the work itself.
 */

const pathsHelp = 'Paths are relative to the root of the repository.';

const heldPath = (text: string) => canonicalLockPath(text, parseHeldPath);

const lockTake = defineRemoteCommand({
  name: 'lock take',
  summary: 'lock all of these paths, or none',
  details: [
    pathsHelp,
    'Locks on files that have a newer version on another branch are reported or refused, depending on the workspace settings.',
  ],
  arguments: { paths: rest('PATH', 'a path to lock', canonicalLockPath, 'required') },
  flags: takeFlags,
  example: 'Content/Hero.uasset --ttl 4h --note Armor',
  async run({ flags, arguments: { paths } }, connect) {
    const { takeLocks } = await import('./take.ts');
    const locks = await takeLocks(connect, { ...flags, paths });
    return {
      document: { locks: locks.map(({ raw }) => raw) },
      lines: locks.map(({ path, expires_at }) => `Locked ${path} until ${timeCell(expires_at)}.`),
    };
  },
});

const lockExtend = defineRemoteCommand({
  name: 'lock extend',
  summary: 'extend a lock that you hold',
  details: [pathsHelp],
  arguments: { path: required('PATH', 'a path that you have locked', heldPath) },
  flags: { ttl: required('DURATION', 'how long the lock lasts from now on', parseTtl) },
  example: 'Content/Hero.uasset --ttl 8h',
  async run({ flags: { ttl }, arguments: { path } }, connect) {
    const { extendLock } = await import('./check.ts');
    const { raw, expires_at } = await extendLock(await connect(), path, ttl);
    return { document: raw, lines: [`The lock on ${path} lasts until ${timeCell(expires_at)}.`] };
  },
});

const lockAsk = defineRemoteCommand({
  name: 'lock ask',
  summary: 'ask for a lock that someone else holds',
  details: [
    `When the path becomes free, it is kept for you for ${pathKeptMinutes} minutes. Lock it then. The event lock.requested notifies the holder.`,
    `Asking again changes the note and keeps your place. To leave the line, use the dashboard. ${pathsHelp}`,
  ],
  arguments: { path: required('PATH', 'the locked path', canonicalLockPath) },
  flags: { note: optional('TEXT', 'note to the holder', parseNote) },
  example: 'Content/Hero.uasset --note Lights',
  async run({ flags: { note }, arguments: { path } }, connect) {
    const { client, workspace, within } = await connect();
    const { position, raw } = await client.askForLock({ workspace, path, note: note ?? undefined }, within());
    const kept = `When it becomes free, it is kept for you for ${pathKeptMinutes} min.`;
    return { document: raw, lines: [`You are number ${position} in line for ${path}. ${kept}`] };
  },
});

const lockList = defineRemoteCommand({
  name: 'lock list',
  summary: 'list the current locks of a workspace',
  example: '--json',
  async run(_context, connect) {
    const { client, workspace, within, report } = await connect();
    const { items, incomplete } = await client.listLocks({ workspace }, within());
    if (incomplete !== undefined) report(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: textTable(
        items.map(({ path, owner, acquired_at, expires_at, origin, note }) => {
          const left = expires_at && formatRelativeTime(Date.parse(expires_at), client.serverNow());
          return {
            path,
            owner,
            since: acquired_at,
            expires: left && `${left} (${timeCell(expires_at)})`,
            origin,
            note,
          };
        }),
        ['path', 'owner', 'since', 'expires', 'origin', 'note'],
        'No locks found.',
      ),
    };
  },
});

const lockRelease = defineRemoteCommand({
  name: 'lock release',
  summary: 'release your own locks, or with --force those of others',
  details: [pathsHelp, 'The holder relies on the lock. Before you use --force, make sure that its CI run has ended.'],
  arguments: { paths: rest('PATH', 'a locked path', heldPath, 'required') },
  flags: {
    force: deliberateToggle('release the lock even if someone else holds it; needs the scope locks:admin'),
    reason: optional('TEXT', 'with --force, the reason for the audit log', parseNote),
  },
  check({ force, reason }) {
    if (force && !reason) return ['--force needs --reason: the audit log records it.'];
    return reason && !force ? ['--reason applies only to forced releases. Add --force, or remove --reason.'] : [];
  },
  example: 'Content/Hero.uasset',
  async run({ flags: { force, reason }, arguments: { paths } }, connect) {
    const { releaseRemoteLocks } = await import('./release.ts');
    const request = { paths, force, reason: reason ?? undefined };
    const { released, problems } = await releaseRemoteLocks(await connect(), request);
    return {
      document: { released },
      lines: released.map((path) => `Released ${path}.`),
      failure: problems.length === 0 ? undefined : problems.join('\n'),
    };
  },
});

const lockCheck = defineRemoteCommand({
  name: 'lock check',
  summary: 'check that you hold the locks on paths',
  details: [pathsHelp, 'Fails if any of them is free or held by someone else, for use in a git hook.'],
  arguments: { paths: rest('PATH', 'a path to check', heldPath, 'required') },
  example: 'Content/Hero.uasset',
  async run({ arguments: { paths } }, connect) {
    const { checkPaths } = await import('./check.ts');
    return checkPaths(await connect(), paths);
  },
});

const lockRun = defineCommand({
  name: 'lock run',
  summary: 'run a command while holding locks',
  details: [
    pathsHelp,
    'Without WORKSPACE_TOKEN, a CI job uses its identity token: WORKSPACE_ID_TOKEN, or the one from Buildkite or GitHub.',
    'Locks all paths, or an item of a pool, renews the locks while the command runs, and releases them afterwards. Forwards signals.',
    'The exit status is that of the command; 75 if the locks could not be acquired, 76 if one was lost, 126 or 127 if the command cannot start.',
    'The command gets LOCK_FENCE, the highest fence, LOCKS_FILE, a JSON file of the locks, and LOCK_PIPE, a file descriptor that closes when they are no longer renewed.',
    'With --pool, LOCKS_FILE has the properties of each item. For a single item, each property is also a variable: LOCK_HOST_NAME for host-name.',
  ],
  variables,
  arguments: { paths: rest('PATH', 'a path to lock', canonicalLockPath, 'required without --pool') },
  flags: { ...runFlags, allowHttp },
  runsCommand: true,
  example: 'Content/Hero.uasset --wait 15m -- ./release.sh',
  check({ pool, where, any }, { paths }) {
    if (pool === undefined && where.length > 0) return ['--where chooses among the items of a pool. Set --pool, too.'];
    if (new Set(where.map(([name]) => name)).size < where.length)
      return ['--where: No item has two values of the same property.'];
    if (pool !== undefined && paths.length > 0) return ['Set either paths or --pool, not both.'];
    if (pool === undefined && paths.length === 0) return ['PATH is missing: name a path to lock, or set --pool.'];
    const count = new Set(paths).size;
    return pool === undefined && any !== undefined && any > count
      ? [`--any is ${any}, but there are only ${count} paths.`]
      : [];
  },
  async run(context) {
    const { flags, arguments: values, childCommand: command } = context;
    if (command.length === 0) throw new CommandError('The command is missing: write it after --.', 2);
    const { runUnderLocks } = await import('./run.ts');
    return { exitCode: await runUnderLocks(context, { ...flags, ...values, command }) };
  },
});

export const lockCommands: readonly Command[] = [
  lockTake,
  lockExtend,
  lockAsk,
  lockList,
  lockRelease,
  lockCheck,
  lockRun,
];
