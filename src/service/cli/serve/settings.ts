import { maxDuration, parseDurationBetween, parsePositiveDuration } from '../../../interface/duration.ts';
import { oneOf } from '../../../interface/one-of.ts';
import { type Parsed, refused } from '../../../interface/parsed.ts';
import { type Cidr, parseCidr } from '../../platform/ip-address.ts';
import { type FlagValues, list, optional, toggle, withDefault } from '../definition/flags.ts';
import {
  parseByteCount,
  parseFolder,
  parseHost,
  parsePublicUrl,
  parseRateLimit,
  wholeNumber,
} from '../definition/values.ts';
import { commonFlags } from '../storage/storage-command.ts';

const upToTenMillion = wholeNumber(1, 10_000_000);

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Used by `serve` and by commands that print URLs of the service. */
export const publicUrl = optional(
  'URL',
  'the public URL of the service, such as https://assets.example.com',
  'default none',
  parsePublicUrl,
);

/** Not that of a real service, which would accept the token that --dev prints. */
export const devDataFolder = './workspace-dev-data';

export const serveFlags = {
  dev: toggle('start with a sample workspace and a token for trying things out; not for production'),
  host: withDefault('HOST', 'the address to listen on', '127.0.0.1', parseHost),
  port: withDefault('PORT', 'the port to listen on; 0 picks a free one', '8080', wholeNumber(0, 65_535)),
  publicUrl,
  data: optional(
    'FOLDER',
    commonFlags.data.description,
    `${commonFlags.data.otherwise}, with --dev ${devDataFolder}`,
    parseFolder,
  ),
  allowFileRemotes: toggle('allow workspaces to mirror repositories on this machine'),
  windowsPaths: toggle('reject locks on paths that are invalid on Windows or differ from a locked path only in case'),
  allowHookNetwork: list(
    'CIDR',
    'allow webhooks, OIDC issuers and LFS downloads in this private network; repeatable',
    'default none',
    parseCidr,
  ),
  syncTimeout: withDefault(
    'DURATION',
    'time limit for fetching commits, and for stalled LFS downloads',
    '30m',
    parseDurationBetween({ seconds: 1 }, { seconds: 7 * 86_400 }),
  ),
  drainDelay: optional(
    'DURATION',
    'how long to accept requests after SIGTERM, while /readyz already returns 503',
    'default 5s on PostgreSQL, 0s on SQLite',
    parseDurationBetween({ seconds: 0 }, { seconds: 3_600 }),
  ),
  drainTimeout: withDefault(
    'DURATION',
    'how long open requests may then take to finish',
    '10s',
    parseDurationBetween({ seconds: 0 }, { seconds: 86_400 }),
  ),
  parallelSyncs: withDefault('N', 'maximum number of parallel syncs', '2', wholeNumber(1, 64)),
  parallelClones: withDefault('N', 'maximum number of parallel clones of mirrors', '16', wholeNumber(1, 256)),
  keepLockHistory: withDefault('DURATION', 'how long to keep the history of locks', '90d', parsePositiveDuration),
  keepSyncs: withDefault('DURATION', 'how long to keep finished syncs', '90d', parsePositiveDuration),
  keepDeliveries: withDefault('DURATION', 'how long to keep finished deliveries', '7d', parsePositiveDuration),
  keepAudit: optional(
    'DURATION',
    'how long to keep audit log entries; at least 30d',
    'default forever',
    parseDurationBetween({ seconds: 30 * 86_400 }, maxDuration),
  ),
  minFreeDisk: withDefault(
    'SIZE',
    'free disk space below which the service accepts no new work; 0 for no limit',
    '1GB',
    parseByteCount,
  ),
  rateLimit: withDefault(
    'N/s',
    'rate limit of each token, with bursts of up to one minute of requests; 0 for no limit',
    '1000/s',
    parseRateLimit,
  ),
  maxHooks: withDefault('N', 'maximum number of webhooks of a workspace', '100', wholeNumber(1, 10_000)),
  maxWaitingDeliveries: withDefault('N', 'maximum number of waiting deliveries of a webhook', '100000', upToTenMillion),
  maxLocks: withDefault('N', 'maximum number of locks in a workspace', '200000', upToTenMillion),
  maxLocksPerOwner: withDefault('N', 'maximum number of locks of one owner in a workspace', '50000', upToTenMillion),
  maxRememberedBytes: withDefault(
    'SIZE',
    'space for stored responses to requests with an Idempotency-Key; the oldest are removed when it is full',
    '1GB',
    parseByteCount,
  ),
  trustedProxy: list('CIDR', 'trust X-Forwarded-For from these proxies; repeatable', 'default none', parseTrustedProxy),
  log: withDefault(
    'FORMAT',
    'log format; auto is text on a terminal and json otherwise',
    'auto',
    oneOf(['auto', 'text', 'json']),
  ),
  logLevel: withDefault(
    'LEVEL',
    `minimum level of log messages on stderr: ${logLevels.join(', ')}`,
    'info',
    oneOf(logLevels),
  ),
  json: toggle('print the startup line as JSON'),
} as const;

export type ServeSettings = FlagValues<typeof serveFlags> & { readonly data: string };

export function parseTrustedProxy(text: string): Parsed<Cidr> {
  const network = parseCidr(text);
  return network.ok && network.value[1] === 0
    ? refused('It includes all addresses, so every client could choose its own. Name the networks of your proxies.')
    : network;
}
