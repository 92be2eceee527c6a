import { type Duration, durationUpTo, parseDuration } from '../../../interface/duration.ts';
import { type Parsed, refused } from '../../../interface/parsed.ts';
import { parseCidr } from '../../platform/ip-address.ts';
import { type FlagValues, list, optional, toggle, withDefault } from '../flags.ts';
import { commonFlags } from '../storage-command.ts';
import {
  logLevels,
  parseByteCount,
  parseHost,
  parseLogFormat,
  parseLogLevel,
  parsePublicUrl,
  parseRateLimit,
  parseTrustedProxy,
  wholeNumber,
} from '../values.ts';

/** Parser of a duration that, unlike others, may be 0. */
const atMost =
  (max: Duration, named: string) =>
  (text: string): Parsed<Duration> => {
    const duration = parseDuration(text);
    return duration.ok && duration.value.seconds > max.seconds ? refused(`It must be at most ${named}.`) : duration;
  };

const retention = durationUpTo({ seconds: 36_500 * 86_400 }, '36500d');

const auditRetention = (text: string): Parsed<Duration> => {
  const duration = retention(text);
  return duration.ok && duration.value.seconds < 30 * 86_400 ? refused('It must be at least 30d.') : duration;
};

const upToTenMillion = wholeNumber(1, 10_000_000);

/** Used by `serve` and by commands that print URLs of the service. */
export const publicUrl = optional(
  'URL',
  'the address at which others reach the service, such as https://assets.example.com',
  'default none',
  parsePublicUrl,
);

/** In the order of the help. */
export const serveFlags = {
  dev: toggle('start with a sample workspace and a token for trying things out; not for production'),
  host: withDefault('HOST', 'the address to listen on', '127.0.0.1', parseHost),
  port: withDefault('PORT', 'the port to listen on; 0 picks a free one', '8080', wholeNumber(0, 65_535)),
  publicUrl,
  data: commonFlags.data,
  allowFileRemotes: toggle('let workspaces mirror repositories of this machine'),
  windowsPaths: toggle(
    'refuse locks on paths that Windows does not allow, or that differ from a locked path only in case',
  ),
  allowHookNetwork: list(
    'CIDR',
    'allow webhooks, OIDC issuers and LFS downloads in this private network; repeatable',
    'default none',
    parseCidr,
  ),
  syncTimeout: withDefault(
    'DURATION',
    'time limit for fetching commits, and for LFS downloads that make no progress',
    '30m',
    durationUpTo({ seconds: 7 * 86_400 }, '7d'),
  ),
  drainDelay: optional(
    'DURATION',
    'how long to accept requests after SIGTERM, while /readyz already answers 503',
    'default 5s on PostgreSQL, 0s on SQLite',
    atMost({ seconds: 3_600 }, '1h'),
  ),
  drainTimeout: withDefault(
    'DURATION',
    'how long open requests, such as clones, may then take to end',
    '10s',
    atMost({ seconds: 86_400 }, '1d'),
  ),
  parallelSyncs: withDefault('N', 'how many syncs run at the same time', '2', wholeNumber(1, 64)),
  parallelClones: withDefault('N', 'how many clones of mirrors are served at the same time', '16', wholeNumber(1, 256)),
  keepLockHistory: withDefault('DURATION', 'how long to keep the history of locks', '90d', retention),
  keepSyncs: withDefault('DURATION', 'how long to keep syncs that have ended', '90d', retention),
  keepDeliveries: withDefault('DURATION', 'how long to keep deliveries that have ended', '7d', retention),
  keepAudit: optional(
    'DURATION',
    'how long to keep entries of the audit, at least 30d',
    'default for ever',
    auditRetention,
  ),
  minFreeDisk: withDefault(
    'SIZE',
    'free space to keep on the disk of the data folder: with less, new work is refused; 0 keeps none',
    '1GB',
    parseByteCount,
  ),
  rateLimit: withDefault(
    'N/s',
    'how many requests each token may send, in bursts of up to a minute of them; 0 for no limit',
    '1000/s',
    parseRateLimit,
  ),
  maxHooks: withDefault('N', 'how many webhooks a workspace may have', '100', wholeNumber(1, 10_000)),
  maxWaitingDeliveries: withDefault('N', 'how many deliveries may wait for one webhook', '100000', upToTenMillion),
  maxLocks: withDefault('N', 'how many locks a workspace may have at the same time', '200000', upToTenMillion),
  maxLocksPerOwner: withDefault('N', 'how many of them one owner may have', '50000', upToTenMillion),
  maxRememberedBytes: withDefault(
    'SIZE',
    'space for remembered answers to requests with an Idempotency-Key; beyond it, the oldest are dropped',
    '1GB',
    parseByteCount,
  ),
  trustedProxy: list(
    'CIDR',
    'a proxy, or a network of proxies, whose X-Forwarded-For is trusted; can be repeated',
    'default none',
    parseTrustedProxy,
  ),
  log: withDefault(
    'FORMAT',
    'how to log: text for people, json for programs; auto is text on a terminal only',
    'auto',
    parseLogFormat,
  ),
  logLevel: withDefault('LEVEL', `how much to log on stderr: ${logLevels.join(', ')}`, 'info', parseLogLevel),
  json: toggle('print the startup line as JSON'),
} as const;

export type ServeSettings = FlagValues<typeof serveFlags>;
