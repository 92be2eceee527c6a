import { parseDurationBetween } from '../../../interface/duration.ts';
import { canonicalLockPath } from '../../../interface/lock-path.ts';
import { oneOf } from '../../../interface/one-of.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { parsePoolName } from '../../workspaces/workspace-id.ts';
import { CommandError, defineCommand } from '../definition/command.ts';
import { optional, repeated, rest, withDefault } from '../definition/flags.ts';
import { parseNameValue, wholeNumber } from '../definition/values.ts';
import { headBranch } from '../remote/checkout.ts';
import { allowHttpFlag, branchFlag, connectTo, pathsHelp, variables, waitFlags } from '../remote/remote-command.ts';

export const lockRun = defineCommand({
  name: 'lock run',
  summary: 'run a command while holding locks',
  details: [
    pathsHelp,
    'Without WORKSPACE_TOKEN, a CI job uses its identity: WORKSPACE_ID_TOKEN, or what Buildkite or GitHub issues.',
    'It locks all paths, or an item of a pool, renews the locks while the command runs, and releases them afterwards. It forwards signals.',
    'Its exit status is that of the command; 75 if it could not get the locks, 76 if it lost one, 126 or 127 if the command cannot start.',
    'The command gets LOCK_FENCE, the highest fence, LOCKS_FILE, a JSON file of the locks, and LOCK_PIPE, a file descriptor that closes when they are no longer renewed.',
    'With --pool, LOCKS_FILE has the properties of each item. For a single item, each is a variable as well: LOCK_HOST_NAME for host-name.',
  ],
  variables,
  arguments: { paths: rest('PATH', 'a path to lock', canonicalLockPath, 'required without --pool') },
  flags: {
    pool: optional('NAME', 'lock items of this pool instead of paths', parsePoolName),
    where: repeated('NAME=VALUE', 'only items with this property; repeatable, to require several', parseNameValue),
    any: optional('N', 'lock any N of the paths or items', wholeNumber(1, 10_000), 'default all paths, or one item'),
    branch: branchFlag,
    ...waitFlags,
    ttl: withDefault('DURATION', 'how long the locks last if this process or its network dies', parseTtl, '5m'),
    onLost: withDefault('ACTION', 'if a lock is lost: stop the command, or only warn', oneOf(['stop', 'warn']), 'stop'),
    grace: withDefault(
      'DURATION',
      'time between SIGTERM and SIGKILL if a lock is lost',
      parseDurationBetween({ seconds: 1 }, { seconds: 3_600 }),
      '10s',
    ),
    allowHttp: allowHttpFlag,
  },
  runsCommand: true,
  example: 'Content/Hero.uasset --wait 15m -- ./release.sh',
  check({ pool, where }) {
    if (pool === undefined && where.length > 0) return ['--where chooses among the items of a pool. Set --pool, too.'];
    const isAmbiguous = new Set(where.map(([name]) => name)).size < where.length;
    return isAmbiguous ? ['--where: No item has two values of the same property.'] : [];
  },
  async run({ flags, arguments: { paths: named }, childCommand: command, setExitCode, ...context }) {
    if (command.length === 0) throw new CommandError('The command is missing: write it after --.', 2);
    const { branch = headBranch(), pool, where, any, wait = { seconds: 0 }, allowHttp } = flags;
    const paths = [...new Set(named)];
    if (pool !== undefined && paths.length > 0) throw new CommandError('Set either paths or --pool, not both.', 2);
    if (pool === undefined && paths.length === 0)
      throw new CommandError('PATH is missing: name a path to lock, or set --pool.', 2);
    if (pool === undefined && any !== undefined && any > paths.length)
      throw new CommandError(`--any is ${any}, but there are only ${paths.length} paths.`, 2);
    const goal =
      pool === undefined
        ? ({ kind: 'paths', paths, count: any ?? paths.length } as const)
        : ({ kind: 'pool', name: pool, where: Object.fromEntries(where), count: any ?? 1 } as const);
    const { runUnderLocks } = await import('../remote/run.ts');
    const { environment } = context;
    const request = { ...flags, goal, branch, wait, command, environment };
    setExitCode(await runUnderLocks((...how) => connectTo(context, allowHttp, ...how), request));
  },
});
