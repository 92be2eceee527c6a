import { type Client, createClient, type Retry } from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import type { Connection } from './inputs/connection.ts';
import type { Log } from './log.ts';
import { duration } from './report/words.ts';
import { version } from './version.ts';

/** A service in trouble would fill the log of a step with many requests. */
const mostRetriesTold = 10;

/** Tells what is tried again, and not more often than a person wants to read it. */
export function tellRetries(log: Log): (retry: Retry) => void {
  let told = 0;
  return ({ why, delayMs }) => {
    const text = `${why} Trying again in ${duration(delayMs)}.`;
    if (told < mostRetriesTold) log.line(text);
    else log.debug(text);
    told += 1;
    if (told === mostRetriesTold) log.line('What is tried again from here on is in the debug log only.');
  };
}

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
    onRetry: tellRetries(log),
  });
