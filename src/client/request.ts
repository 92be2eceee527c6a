import { asOneSegment, asSegments, type LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import type { Connection } from './connection.ts';
import type { FoundLock, LockComparison } from './known-lock.ts';
import type { Marks } from './marks.ts';
import type { ClientResponse } from './response.ts';
import type { Failure, ServiceError } from './service-error.ts';
import type { Clock, ServerClock } from './time.ts';

/** Limits of one operation, shared by its calls, retries and pauses. */
export interface CallLimits {
  /** By the clock of the client, in milliseconds since 1970. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /** The longest pause between two attempts, unless the service asks for more. For callers that keep trying. */
  readonly maxBackoffMs?: number | undefined;
  /** There is no later chance: tries again even if the service asks to wait until after the deadline. */
  readonly isLastChance?: boolean;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query on the origin of the service, encoded. */
  readonly target: string;
  /** The same resource in another encoding, for gateways that reject the first. */
  readonly otherTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members without a value are omitted. */
  readonly body?: object;
  /** The same key may have been sent before this call. */
  readonly keySentBefore?: boolean;
  /** Does not repeat the request after an attempt that may have taken effect. */
  readonly once?: boolean | undefined;
  /** Additional time for the response of a request that waits in line and is repeated by its caller. */
  readonly waitMs?: number | undefined;
  readonly secrets?: readonly string[];
  /** Returns why a success is not the requested resource; undefined if it is. Without it, any success counts. */
  readonly expect?: ((response: ClientResponse) => Failure | undefined) | undefined;
  /** Accepts any success from a service without marks, because the interface does not define the body. */
  readonly anySuccess?: boolean;
  /** Statuses that are final regardless of the body, because a service without marks may not support the request. */
  readonly finalAt?: readonly number[];
  /** Returns the result of a lookup if it confirms a response that may be from a gateway. */
  readonly confirm?: ((response: ClientResponse, within: CallLimits) => Promise<FoundLock | undefined>) | undefined;
}

/** The final response after all retries. It is from the service, or was confirmed. */
interface Answered {
  readonly response: ClientResponse;
  readonly found?: FoundLock | undefined;
  /** An unanswered attempt, in this call or an earlier one, may have taken effect. */
  readonly mayBeDone: boolean;
  /** The time of the first attempt, by the clock of the server. */
  readonly sentAt: number;
}

export interface Succeeded extends Answered {
  readonly kind: 'succeeded';
  /** The error if the response is not what it should be. */
  error(failure: Failure): ServiceError;
}

export interface Refused extends Answered {
  readonly kind: 'failed';
  readonly error: ServiceError;
}

/** The service refused the operation, or the call gave up without a response. */
export type Failed =
  | Refused
  | {
      readonly kind: 'failed';
      readonly error: ServiceError;
      /** The request may have taken effect. */
      readonly mayBeDone: boolean;
      readonly response?: undefined;
    };

export type CallResult = Succeeded | Failed;

export const theService = 'The service';

export interface CallOptions {
  readonly baseUrl: URL;
  /** The name of the server in errors and retries. */
  readonly server: string;
  readonly send: Connection['send'];
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Opens the source of tokens with the first request. Without it, requests are sent with only these headers. */
  readonly openTokens?: (() => Promise<TokenSource>) | undefined;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly closed: AbortSignal;
  /** Decides which responses are from the service. Without it, every refusal counts as the server's own. */
  readonly marks?: Marks;
  readonly maxConnections?: number;
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export type Call = (request: Request, within: CallLimits) => Promise<CallResult>;

export interface Retry {
  readonly delayMs: number;
  readonly reason: string;
}

/** Provides a bearer token for each request, and replaces it before it expires. */
export interface TokenSource {
  /** The token, or the reason why there is none. Undefined if the signal is aborted first. */
  get(within: CallLimits, signal: AbortSignal): Promise<string | Failure | undefined>;
  /** Reports that the service rejected the token with 401. */
  invalidate(token: string): void;
}

export interface ClientContext {
  readonly call: Call;
  readonly endpoints: ReturnType<typeof createEndpoints>;
  readonly serverNow: Clock;
  /** The run URL; undefined outside a workflow. */
  readonly origin?: string | undefined;
  /** The branch of the run or the checkout. Sent with each request for a lock. */
  readonly branch?: string | undefined;
  /** Called for granted locks on outdated files, and for granted locks that were not compared with a current mirror. */
  readonly onCompared?: ((comparison: LockComparison) => void) | undefined;
}

export function createEndpoints(baseUrl: URL) {
  const base = baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
  const below = (workspace: WorkspaceId, ...rest: readonly string[]): string =>
    [base, 'workspaces', encodeURIComponent(workspace), ...rest].join('/');
  return {
    workspaces: `${base}/workspaces`,
    token: `${base}/token`,
    branches: (workspace: WorkspaceId) => below(workspace, 'branches'),
    sync: (workspace: WorkspaceId) => below(workspace, 'sync'),
    locks: (workspace: WorkspaceId) => below(workspace, 'locks'),
    lock: (workspace: WorkspaceId, path: LockPath) => below(workspace, 'locks', asOneSegment(path)),
    lockWithSlashes: (workspace: WorkspaceId, path: LockPath) => below(workspace, 'locks', asSegments(path)),
    // Its id may come from the output of another job.
    lease: (workspace: WorkspaceId, lease: string) => below(workspace, 'leases', encodeURIComponent(lease)),
    queue: (workspace: WorkspaceId) => below(workspace, 'queue'),
    hooks: (workspace: WorkspaceId) => below(workspace, 'hooks'),
  };
}

/**
 * Resolves a URL from the service to its server and its request target, which is undefined on another server: the token
 * must not be sent there. Undefined if the link is not a URL.
 */
export function resolveLink(link: string, from: string, baseUrl: URL) {
  const url = URL.parse(link, new URL(from, baseUrl).href);
  if (url === null) return undefined;
  const { origin, protocol, host, pathname, search } = url;
  return { server: `${protocol}//${host}`, target: origin === baseUrl.origin ? pathname + search : undefined };
}

export function expectSuccess(result: CallResult): Succeeded {
  if (result.kind === 'failed') throw result.error;
  return result;
}
