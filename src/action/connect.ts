import { type Client, createClient, type Retry } from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import type { Connection } from './inputs/connection.ts';
import type { Log } from './log.ts';
import { duration } from './report/words.ts';
import { version } from './version.ts';

/** A service in trouble would fill the log of a step with many requests. */
const mostRetriesTold = 10;

/** All requests wait for a rate limit together: the first of them is told, whatever number of others it meets. */
const limitedText = 'Requests are limited: what is left to do goes on as fast as they are taken.';

/** Tells what is tried again, and not more often than a person wants to read it. */
export function tellRetries(log: Log): (retry: Retry) => void {
  let told = 0;
  let limited = false;
  return ({ why, delayMs, reason }) => {
    const text = `${why} Trying again in ${duration(delayMs)}.`;
    if (reason === 'limited') {
      if (limited) {
        log.debug(text);
        return;
      }
      limited = true;
      log.line(text);
      log.line(limitedText);
      return;
    }
    if (told < mostRetriesTold) log.line(text);
    else log.debug(text);
    told += 1;
    if (told === mostRetriesTold) log.line('What is tried again from here on is in the debug log only.');
  };
}

/** The next requests are spread before any is refused. Short pauses are no news. */
const longPauseMs = 1_000;

function tellPace(log: Log): (delayMs: number) => void {
  let told = false;
  return (delayMs) => {
    if (told || delayMs < longPauseMs) return;
    told = true;
    log.line(limitedText);
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
    onThrottled: tellPace(log),
  });
