import { type Client, type ClientOptions, createClient, type Retry } from '../../client/client.ts';
import { milliseconds } from '../../interface/duration.ts';
import { formatElapsed } from '../../interface/words.ts';
import type { ConnectionInputs } from '../inputs/connection.ts';
import type { Log, Reporter } from '../report/reporter.ts';

/** The client of a step. It logs retries, and sends the run URL with its requests. */
export function connect(
  connection: ConnectionInputs,
  origin: string | undefined,
  { log, mask }: Pick<Reporter, 'log' | 'mask'>,
  more: Pick<ClientOptions, 'serverAheadMs' | 'branch' | 'onCompared'> = {},
): Client {
  const { baseUrl, credentials, requestTimeout, retries } = connection;
  return createClient({
    baseUrl,
    credentials:
      credentials.kind === 'given'
        ? credentials
        : {
            kind: 'exchanged',
            // Loaded only if no token is given.
            open: async (exchange) => (await import('./identity.ts')).openTokens(credentials, exchange, mask),
          },
    retries,
    requestTimeoutMs: milliseconds(requestTimeout),
    userAgent: `workspace-automation/${actionVersion}`,
    ...(origin !== undefined && { origin }),
    ...more,
    onWarning: log.warn,
    onRetry: logRetries(log),
    onThrottled: logPauses(log),
  });
}

/** Sent as User-Agent. A test compares it with package.json. */
export const actionVersion = '0.1.0';

/** More retries of a failing service would fill the log of a step with many requests. */
const maxRetriesInLog = 10;

export function logRetries(log: Log, server = 'The service'): (retry: Retry) => void {
  let logged = 0;
  let rateLimited = false;
  return ({ reason, delayMs, kind }) => {
    const text = `${reason} Trying again in ${formatElapsed(delayMs)}.`;
    if (kind === 'limited') {
      if (rateLimited) {
        log.debug(text);
        return;
      }
      rateLimited = true;
      log.line(text);
      log.line(rateLimitText(server));
      return;
    }
    if (logged < maxRetriesInLog) log.line(text);
    else log.debug(text);
    logged += 1;
    if (logged === maxRetriesInLog) log.line('Further retries appear only in the debug log.');
  };
}

/** Shorter pauses between requests are not logged. */
const minPauseInLogMs = 1_000;

function logPauses(log: Log): (delayMs: number) => void {
  let logged = false;
  return (delayMs) => {
    if (logged || delayMs < minPauseInLogMs) return;
    logged = true;
    log.line(rateLimitText('The service'));
  };
}

/** Logged once: all requests wait for a rate limit together. */
const rateLimitText = (server: string): string =>
  `${server} limits the rate of requests. The rest of the step keeps to that limit.`;
