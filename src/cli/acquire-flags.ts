import { parseUrgency } from '../client/queue.ts';
import { type FlagValues, optional, repeated, withDefault } from '../command/flags.ts';
import { parseBranchName } from '../interface/branch-name.ts';
import { parseDurationBetween, parseTtl, parseWait } from '../interface/duration.ts';
import { parseNote } from '../interface/lock-path.ts';
import { parseAny, parseNameValue, textOf } from '../interface/parsed.ts';

const waitFlags = {
  branch: optional(
    'NAME',
    'the branch that the locks are for; newer versions of the files on other branches are reported',
    parseBranchName,
    'default the branch of the checkout',
  ),
  wait: withDefault('DURATION', 'how long to wait for paths that others hold', parseWait, '0s'),
  priority: withDefault('PRIORITY', 'the place in line while waiting: low, normal or high', parseUrgency, 'normal'),
} as const;

export type TakeFlags = FlagValues<typeof takeFlags>;

export const takeFlags = {
  ttl: withDefault('DURATION', 'how long the locks last, unless they are released earlier', parseTtl, '1h'),
  note: optional('TEXT', 'note for anyone who finds the path locked', parseNote),
  ...waitFlags,
} as const;

export type RunFlags = FlagValues<typeof runFlags>;

export const runFlags = {
  pool: optional('NAME', 'lock items of this pool instead of paths', textOf('the name of a pool')),
  where: repeated('NAME=VALUE', 'only items with this property; repeatable, to require several', parseNameValue),
  any: optional('N', 'lock any N of the paths or items', parseAny, 'default all paths, or one item'),
  ...waitFlags,
  ttl: withDefault('DURATION', 'how long the locks last if this process or its network dies', parseTtl, '5m'),
  grace: withDefault(
    'DURATION',
    'time between SIGTERM and SIGKILL if a lock is lost, and before processes that the command leaves behind are ended',
    parseDurationBetween({ seconds: 1 }, { seconds: 3_600 }),
    '10s',
  ),
} as const;
