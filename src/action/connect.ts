import { type Client, createClient } from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import type { Connection } from './inputs/connection.ts';
import type { Log } from './log.ts';
import { duration } from './report/words.ts';
import { version } from './version.ts';

/** The client as a step uses it: it says what it retries, and where its requests come from. */
export const connect = (
  { baseUrl, token, requestTimeout, retries }: Connection,
  origin: string | undefined,
  log: Log,
): Client =>
  createClient({
    baseUrl,
    token,
    retries,
    requestTimeoutMs: milliseconds(requestTimeout),
    userAgent: `workspace-automation/${version}`,
    ...(origin !== undefined && { origin }),
    onWarning: log.warn,
    onRetry: ({ why, delayMs }) => log.line(`${why} Trying again in ${duration(delayMs)}.`),
  });
