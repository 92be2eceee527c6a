import { type FlagValues, list, optional, toggle, withDefault } from '../../command/flags.ts';
import { maxDuration, parseDurationBetween } from '../../interface/duration.ts';
import { isLoopback } from '../../interface/loopback.ts';
import { accepted, oneOf, type Parsed, refused, textOf, wholeNumber } from '../../interface/parsed.ts';
import type { RateLimit } from '../access/access.ts';
import { type Cidr, parseCidr } from '../platform/ip-address.ts';
import { commonFlags, parseFolder } from './storage-command.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Used by `serve` and by commands that print URLs of the service. */
export const publicUrl = optional(
  'URL',
  'public URL of the service, such as https://assets.example.com',
  parsePublicUrl,
);

/** Separate from the data of a real service, which would accept the token that --dev prints. */
export const devDataFolder = './workspace-dev-data';

export const serveFlags = {
  dev: toggle('start with a sample workspace and a token for trying things out; not for production'),
  host: withDefault('HOST', 'the address to listen on', textOf('a name or an address'), '127.0.0.1'),
  port: withDefault('PORT', 'the port to listen on; 0 picks a free one', wholeNumber(0, 65_535), '8080'),
  publicUrl,
  data: optional(
    'FOLDER',
    commonFlags.data.description,
    parseFolder,
    `${commonFlags.data.otherwise}, with --dev ${devDataFolder}`,
  ),
  allowFileRemotes: toggle('allow workspaces to mirror repositories on this machine'),
  allowHookNetwork: list('CIDR', 'private network for webhooks and OIDC issuers; repeatable', parseCidr),
  syncTimeout: withDefault(
    'DURATION',
    'time limit for fetching commits; an LFS download ends after 60s without progress',
    parseDurationBetween({ seconds: 1 }, { seconds: 7 * 86_400 }),
    '30m',
  ),
  drainDelay: optional(
    'DURATION',
    'how long to accept requests after SIGTERM, while /readyz already returns 503',
    parseDurationBetween({ seconds: 0 }, { seconds: 3_600 }),
    'default 5s on PostgreSQL, 0s on SQLite',
  ),
  drainTimeout: withDefault(
    'DURATION',
    'how long open requests may then take to finish',
    parseDurationBetween({ seconds: 0 }, { seconds: 86_400 }),
    '10s',
  ),
  keepAudit: optional(
    'DURATION',
    'how long to keep audit log entries; at least 30d',
    parseDurationBetween({ seconds: 30 * 86_400 }, maxDuration),
    'default forever',
  ),
  minFreeDisk: withDefault(
    'SIZE',
    'free disk space below which new locks are refused and syncs wait; 0 for no limit',
    parseByteCount,
    '1GB',
  ),
  rateLimit: withDefault(
    'N/s',
    'rate limit of each token, with bursts of up to one minute of requests; 0 for no limit',
    parseRateLimit,
    '1000/s',
  ),
  trustedProxy: list('CIDR', 'trust X-Forwarded-For from these proxies; repeatable', parseTrustedProxy),
  logLevel: withDefault('LEVEL', `minimum level of log messages: ${logLevels.join(', ')}`, oneOf(logLevels), 'info'),
  json: toggle('print the startup line as JSON'),
} as const;

export type ServeSettings = FlagValues<typeof serveFlags> & { readonly data: string };

export function parseTrustedProxy(text: string): Parsed<Cidr> {
  const network = parseCidr(text);
  return network.ok && network.value[1] === 0
    ? refused('It includes all addresses, so every client could choose its own. Name the networks of your proxies.')
    : network;
}

/** With or without `/v1`. Other paths are refused, because links of the dashboard start at the root. */
export function parsePublicUrl(text: string): Parsed<string> {
  const [, url = ''] = /^(https?:\/\/[^/?#@]+)(?:\/+v1)?\/*$/i.exec(text) ?? [];
  return URL.canParse(url)
    ? accepted(new URL(url).origin)
    : refused('It must be like https://assets.example.com: a host, without user name, path, query or fragment.');
}

const maxPerSecond = 1_000_000;

/** Burst of an idle token, in seconds at its rate: jobs request all of their locks when they start. */
const burstSeconds = 60;

export function parseRateLimit(text: string): Parsed<RateLimit> {
  if (text === '0') return accepted(null);
  const [, digits] = /^(\d{1,9})\/s$/.exec(text) ?? [];
  const perSecond = Number(digits);
  if (digits === undefined || perSecond < 1 || perSecond > maxPerSecond)
    return refused(
      `It must be a number of requests per second, such as 1000/s (1/s to ${maxPerSecond}/s), or 0 for no limit.`,
    );
  return accepted({ perSecond, burst: perSecond * burstSeconds });
}

export function parseByteCount(text: string): Parsed<number> {
  const [, digits, unit = ''] = /^(\d{1,6})([KMGT]?B)$/.exec(text === '0' ? '0B' : text) ?? [];
  return digits === undefined
    ? refused('It must be a number of bytes with a unit, such as 500MB, 1GB or 2TB, or 0.')
    : accepted(Number(digits) * 1_000 ** 'BKMGT'.indexOf(unit.charAt(0)));
}

/** In development on a loopback address, the public URL is known without a setting. */
export function publicUrlOf({ publicUrl, dev, host }: Pick<ServeSettings, 'publicUrl' | 'dev' | 'host'>, port: number) {
  return publicUrl ?? (dev && isLoopback(host) ? originAt(host, port) : undefined);
}

export const originAt = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host.replace('%', '%25')}]` : host}:${port}`;

export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** The lines that show the link, which appears nowhere else. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as an administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Default address of `serve`. */
export const defaultOrigin = 'http://127.0.0.1:8080';
