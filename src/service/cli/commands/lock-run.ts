import { durationUpTo } from '../../../interface/duration.ts';
import { canonicalLockPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { CommandError, defineCommand } from '../definition/command.ts';
import { optional, rest, withDefault } from '../definition/flags.ts';
import { parseOnLost, parsePriority, wholeNumber } from '../definition/values.ts';
import { aboutPaths, allowHttpFlag, connectTo, variables } from '../remote/remote-command.ts';

export const lockRun = defineCommand({
  name: 'lock run',
  summary: 'run a command while holding locks',
  details: [
    aboutPaths,
    'Without WORKSPACE_TOKEN, a CI job uses its identity: WORKSPACE_ID_TOKEN, or what Buildkite or GitHub issues.',
    'It locks all paths, renews the locks while the command runs, and releases them afterwards. It passes signals on.',
    'Its exit status is that of the command; 75 if it could not get the locks, 76 if it lost one, 126 or 127 if the command cannot start.',
    'The command gets LOCK_FENCE, the highest fence, LOCKS_FILE, a JSON file of the locks, and LOCK_PIPE, a file descriptor that ends when the locks are no longer kept.',
  ],
  variables,
  arguments: { paths: rest('PATH', 'a path to lock', 'required', (text) => canonicalLockPath(text)) },
  flags: {
    any: optional('N', 'lock any N of the paths', 'default all', wholeNumber(1, 10_000)),
    wait: optional(
      'DURATION',
      'how long to wait for paths that others hold',
      'default not at all',
      durationUpTo({ seconds: 30 * 86_400 }, '30d'),
    ),
    priority: withDefault('PRIORITY', 'the place in line while waiting: low, normal or high', 'normal', parsePriority),
    ttl: withDefault('DURATION', 'how long the locks last if this process or its network dies', '5m', parseTtl),
    onLost: withDefault('ACTION', 'if a lock is lost: stop the command, or only warn', 'stop', parseOnLost),
    grace: withDefault(
      'DURATION',
      'time between SIGTERM and SIGKILL if a lock is lost',
      '10s',
      durationUpTo({ seconds: 3_600 }, '1h'),
    ),
    allowHttp: allowHttpFlag,
  },
  runsCommand: true,
  example: 'Content/Hero.uasset --wait 15m -- ./release.sh',
  async run({ flags, arguments: { paths: named }, childCommand: command, exitWith, ...surroundings }) {
    if (command.length === 0) throw new CommandError('The command is missing: write it after --.', 2);
    const { any, wait = { seconds: 0 }, priority, ttl, onLost, grace, allowHttp } = flags;
    const paths = [...new Set(named)];
    if (any !== undefined && any > paths.length)
      throw new CommandError(`--any is ${any}, but there are only ${paths.length} paths.`, 2);
    const { runUnderLocks } = await import('../remote/run.ts');
    const { environment } = surroundings;
    const request = { paths, count: any ?? paths.length, wait, priority, ttl, onLost, grace, command, environment };
    exitWith(await runUnderLocks((...how) => connectTo(surroundings, allowHttp, ...how), request));
  },
});
