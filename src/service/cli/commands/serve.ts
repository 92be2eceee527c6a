import { durationUpTo } from '../../../interface/duration.ts';
import { parseCidr } from '../../platform/ip-address.ts';
import { defineCommand } from '../command.ts';
import { list, toggle, withDefault } from '../flags.ts';
import { commonFlags } from '../storage-command.ts';
import {
  logLevels,
  parseByteCount,
  parseHost,
  parseLogLevel,
  parseRateLimit,
  parseTrustedProxy,
  wholeNumber,
} from '../values.ts';

const maxSync = { seconds: 7 * 86_400 };

export const serve = defineCommand({
  name: 'serve',
  summary: 'run the service',
  details: [
    'It speaks plain HTTP: put a proxy with TLS in front of it before other machines use it.',
    'SIGTERM or SIGINT stops it gracefully; a second signal, at least a second later, stops it at once.',
  ],
  arguments: {},
  flags: {
    dev: toggle('start with a sample workspace and a token for trying things out; not for production'),
    host: withDefault({ placeholder: 'HOST', what: 'the address to listen on' }, '127.0.0.1', parseHost),
    port: withDefault(
      { placeholder: 'PORT', what: 'the port to listen on; 0 picks a free one' },
      '8080',
      wholeNumber(0, 65_535),
    ),
    data: commonFlags.data,
    'allow-file-remotes': toggle('let workspaces mirror repositories of this machine'),
    'windows-paths': toggle(
      'refuse locks on paths that Windows does not allow, or that differ from a locked path only in case',
    ),
    'allow-hook-network': list(
      {
        placeholder: 'CIDR',
        what: 'a private network that webhooks may reach; can be repeated',
      },
      'default none',
      parseCidr,
    ),
    'sync-timeout': withDefault(
      { placeholder: 'DURATION', what: 'how long a sync may take' },
      '30m',
      durationUpTo(maxSync, '7d'),
    ),
    'parallel-syncs': withDefault(
      { placeholder: 'N', what: 'how many syncs run at the same time' },
      '2',
      wholeNumber(1, 64),
    ),
    'min-free-disk': withDefault(
      {
        placeholder: 'SIZE',
        what: 'free space to keep on the disk of the data folder: with less, new work is refused; 0 keeps none',
      },
      '1GB',
      parseByteCount,
    ),
    'rate-limit': withDefault(
      {
        placeholder: 'N/s',
        what: 'how many requests each token may send, in bursts of up to a minute of them; 0 for no limit',
      },
      '1000/s',
      parseRateLimit,
    ),
    'max-hooks': withDefault(
      { placeholder: 'N', what: 'how many webhooks a workspace may have' },
      '100',
      wholeNumber(1, 10_000),
    ),
    'max-waiting-deliveries': withDefault(
      { placeholder: 'N', what: 'how many deliveries may wait for one webhook' },
      '100000',
      wholeNumber(1, 10_000_000),
    ),
    'max-locks': withDefault(
      { placeholder: 'N', what: 'how many locks a workspace may have at the same time' },
      '200000',
      wholeNumber(1, 10_000_000),
    ),
    'max-locks-per-owner': withDefault(
      { placeholder: 'N', what: 'how many of them one owner may have' },
      '50000',
      wholeNumber(1, 10_000_000),
    ),
    'max-remembered-bytes': withDefault(
      {
        placeholder: 'SIZE',
        what: 'space for remembered answers to requests with an Idempotency-Key; beyond it, the oldest are dropped',
      },
      '1GB',
      parseByteCount,
    ),
    'trusted-proxy': list(
      {
        placeholder: 'CIDR',
        what: 'a proxy, or a network of proxies, whose X-Forwarded-For is trusted; can be repeated',
      },
      'default none',
      parseTrustedProxy,
    ),
    'log-level': withDefault(
      { placeholder: 'LEVEL', what: `how much to log on stderr: ${logLevels.join(', ')}` },
      'info',
      parseLogLevel,
    ),
    json: toggle('print the startup line as JSON'),
  },
  example: '--dev',
  async run({ flags, environment, io }) {
    // Only this command needs the whole service to be read.
    const { serve } = await import('../serve/serve.ts');
    const { dev, host, port, data, json } = flags;
    const settings = {
      dev,
      host,
      port,
      data,
      json,
      allowFileRemotes: flags['allow-file-remotes'],
      windowsPaths: flags['windows-paths'],
      allowedHookNetworks: flags['allow-hook-network'],
      syncTimeout: flags['sync-timeout'],
      parallelSyncs: flags['parallel-syncs'],
      minFreeDisk: flags['min-free-disk'],
      rateLimit: flags['rate-limit'],
      maxHooks: flags['max-hooks'],
      maxWaitingDeliveries: flags['max-waiting-deliveries'],
      maxLocks: flags['max-locks'],
      maxLocksPerOwner: flags['max-locks-per-owner'],
      maxRememberedBytes: flags['max-remembered-bytes'],
      trustedProxies: flags['trusted-proxy'],
      logLevel: flags['log-level'],
    };
    await serve(settings, environment, io);
  },
});
