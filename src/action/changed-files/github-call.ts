import { readAnswer } from '../../client/answer.ts';
import { type Call, createCall, type Retry } from '../../client/call.ts';
import { type Clock, createServerClock } from '../../client/clock.ts';
import { openConnection } from '../../client/connection.ts';
import { asTooMany } from './rate-limit.ts';

/** GitHub would rather have one request after the other: it has a limit for those at once, which all of a job share. */
const atOnce = 4;

export interface GitHubCallOptions {
  readonly apiUrl: URL;
  readonly token: string;
  readonly requestTimeoutMs: number;
  readonly retries: number;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onRetry: (retry: Retry) => void;
}

export interface GitHubCall {
  readonly call: Call;
  /** Ends whatever is under way, and closes the connections. */
  close(): void;
}

/** Requests to GitHub with the retries, the limits and the proxies of those to the service. */
export function openGitHubCall(options: GitHubCallOptions): GitHubCall {
  const { apiUrl, token, requestTimeoutMs, clock } = options;
  const connection = openConnection(apiUrl);
  const closing = new AbortController();
  const call = createCall({
    baseUrl: apiUrl,
    clock,
    serverClock: createServerClock(clock),
    send: async (request, signal, texts) => readAnswer(asTooMany(await connection.send(request, signal)), texts),
    timeoutMs: requestTimeoutMs,
    maxConnections: atOnce,
    retries: options.retries,
    secrets: [token],
    headers: { 'accept-encoding': 'identity' },
    sleep: options.sleep,
    random: options.random,
    closed: closing.signal,
    onAnswer: () => undefined,
    onRetry: options.onRetry,
    onThrottled: () => undefined,
  });
  return {
    call,
    close() {
      closing.abort();
      connection.close();
    },
  };
}
