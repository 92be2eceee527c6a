import { tmpdir } from 'node:os';
import {
  type CallLimits,
  type Client,
  type Clock,
  createClient,
  type Retry,
  sleep,
  steadyClock,
} from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import type { ConnectionInputs } from './inputs/connection.ts';
import { explainErrors, type GivenInputs } from './inputs/refused-inputs.ts';
import { createRecorder, type Ledger, ledgerFile, openLedger, type Recorder } from './ledger/ledger.ts';
import type { Outputs } from './outcome.ts';
import type { Redact } from './report/redact.ts';
import type { Log, Reporter } from './report/reporter.ts';
import { formatElapsed } from './report/words.ts';

export type RunEvent = ReturnType<typeof readRunner>['event'];

/** What the post-step of the same step finds again. */
export type StateName = 'step' | 'on-lost' | 'locks' | 'renewer';

/** What an operation works with. Nothing in it knows the runner's toolkit, and tests hand in their own. */
export interface Context {
  readonly connection: ConnectionInputs;
  readonly runner: ReturnType<typeof readRunner>;
  readonly client: Client;
  readonly ledger: Ledger;
  /** Adds to the ledger; the step goes on if that fails. */
  readonly record: Recorder;
  readonly log: Log;
  /** Sets outputs that later steps can rely on, whatever happens from here on. */
  readonly setOutputs: (outputs: Outputs) => void;
  readonly saveState: (name: StateName, value: string) => void;
  readonly redact: Redact;
  /** An error as a person reads it, who knows the inputs of the step. */
  readonly explain: (error: unknown) => string;
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** Of this machine; the client knows the time of the server. */
  readonly clock: Clock;
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export function createContext(
  connection: ConnectionInputs,
  { log, mask, setOutputs }: Reporter,
  { saveState, redact, given }: Pick<Context, 'saveState' | 'redact'> & { readonly given: GivenInputs },
): Context {
  const runner = readRunner(process.env);
  const ledger = openLedger(ledgerFile(runner.temporaryFolder), redact);
  log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
  return {
    connection,
    runner,
    client: connect(connection, runner.origin, { log, mask }),
    ledger,
    record: createRecorder(ledger, log),
    log,
    setOutputs,
    saveState,
    redact,
    explain: explainErrors(given),
    signal: cancellation(),
    clock: steadyClock,
    sleep,
    random: Math.random,
  };
}

const defaultLimitMs = 120_000;

/** Without an explicit wait, an operation ends within two minutes and one attempt. */
export const defaultLimits = ({
  clock,
  connection,
  signal,
}: Pick<Context, 'clock' | 'signal'> & {
  readonly connection: Pick<ConnectionInputs, 'requestTimeout'>;
}): CallLimits => ({
  deadline: clock() + defaultLimitMs + milliseconds(connection.requestTimeout),
  signal,
});

/** Where a step runs. */
export const readRunner = (environment: NodeJS.ProcessEnv) => ({
  checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
  /** Shared by all steps of a job, and emptied after it. */
  temporaryFolder: environment['RUNNER_TEMP'] || tmpdir(),
  /** The address of the run, with its attempt, sent with every request; undefined outside of a workflow. */
  origin: originOf(environment),
  /** The id of the step in the workflow, or the name that the runner gives it; undefined outside of a workflow. */
  stepName: environment['GITHUB_ACTION'] || undefined,
  /** What runs the steps of the job. When it dies, the system gives its children another parent. */
  worker: process.ppid,
  /** What started the run; empty where the runner says nothing. */
  event: {
    name: environment['GITHUB_EVENT_NAME'] ?? '',
    file: environment['GITHUB_EVENT_PATH'] ?? '',
    repository: environment['GITHUB_REPOSITORY'] ?? '',
    apiUrl: environment['GITHUB_API_URL'] ?? '',
  },
});

/** The runner sends SIGINT when a job is cancelled, and SIGTERM when that was not enough. */
export function cancellation(): AbortSignal {
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  return cancelled.signal;
}

/** Sent as User-Agent. A test holds it to package.json. */
export const actionVersion = '0.1.0';

/** The client of a step: it logs what it retries, and tells the service which run its requests are from. */
export function connect(
  connection: ConnectionInputs,
  origin: string | undefined,
  { log, mask }: Pick<Reporter, 'log' | 'mask'>,
  serverAheadMs?: number,
): Client {
  const { baseUrl, credentials, requestTimeout, retries } = connection;
  return createClient({
    baseUrl,
    credentials:
      credentials.kind === 'given'
        ? credentials
        : {
            kind: 'exchanged',
            // Not read where there is a token.
            open: async (exchange) => (await import('./identity.ts')).openTokens(credentials, exchange, mask),
          },
    retries,
    requestTimeoutMs: milliseconds(requestTimeout),
    userAgent: `workspace-automation/${actionVersion}`,
    ...(origin !== undefined && { origin }),
    serverAheadMs,
    onWarning: log.warn,
    onRetry: logRetries(log),
    onThrottled: logPauses(log),
  });
}

/** A service in trouble would fill the log of a step that has many requests. */
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
    if (logged === maxRetriesInLog) log.line('Further retries are in the debug log only.');
  };
}

function originOf(environment: NodeJS.ProcessEnv): string | undefined {
  const server = environment['GITHUB_SERVER_URL'];
  const repository = environment['GITHUB_REPOSITORY'];
  const run = environment['GITHUB_RUN_ID'];
  if (!server || !repository || !run) return undefined;
  const attempt = environment['GITHUB_RUN_ATTEMPT'];
  return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}

/** Shorter pauses between requests are no news. */
const minPauseInLogMs = 1_000;

function logPauses(log: Log): (delayMs: number) => void {
  let logged = false;
  return (delayMs) => {
    if (logged || delayMs < minPauseInLogMs) return;
    logged = true;
    log.line(rateLimitText('The service'));
  };
}

/** All requests wait for a rate limit together, so the first one to meet it speaks for all. */
const rateLimitText = (server: string): string =>
  `${server} limits requests. The rest of the step runs as fast as that limit allows.`;
