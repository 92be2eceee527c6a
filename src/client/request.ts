import type { Endpoints } from './addresses.ts';
import type { Clock } from './clock.ts';
import type { SentRequest } from './connection.ts';
import type { JsonObject } from './json.ts';
import { type ClientResponse, isSuccess, type RawResponse } from './response.ts';
import type { NoToken, RequestFailure, ServiceError, Unusable } from './service-error.ts';
import type { ServiceText } from './service-text.ts';

/** The limits of one operation: of its calls, its retries and its sleeps together. */
export interface CallLimits {
  /** By the clock of the client, in milliseconds since 1970. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
  /** The longest pause between two attempts, unless the service asks for more: the caller goes on trying. */
  readonly maxBackoffMs?: number | undefined;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query on the origin of the service, encoded. */
  readonly target: string;
  /** The same resource in another spelling, for gateways that reject the first. */
  readonly otherTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject | URLSearchParams;
  /** The same key may have been sent before this call. */
  readonly keySentBefore?: boolean;
  /** Do not send it again after an attempt that may have done what was asked. */
  readonly attempts?: 'once' | undefined;
  /** False to send it at once, whatever remains of the rate limit. By default only a release is sent so. */
  readonly throttled?: boolean | undefined;
  /** How much longer the service may take to answer, by request. */
  readonly answerDelayMs?: number;
  /** Secrets in the request itself. */
  readonly secrets?: readonly string[];
  /** Why a success is not the resource that was asked for; undefined if it is. By default any success is. */
  readonly expect?: ((response: ClientResponse, texts: ServiceText) => Unusable | undefined) | undefined;
  /** Whether something else shows the result, though the answer may be a gateway's. */
  readonly confirm?: ((response: ClientResponse, within: CallLimits) => Promise<boolean>) | undefined;
}

export interface CallContext {
  readonly texts: ServiceText;
  /** An attempt without an answer of the service, in this call or an earlier one, may have taken effect. */
  readonly mayBeDone: boolean;
  /** By the clock of the client, when it was first sent. */
  readonly sentAt: number;
  fail(failure: RequestFailure): ServiceError;
  /** The error for a response that is not a success. */
  refuse(response: ClientResponse): ServiceError;
  /** The spelling that was sent last. */
  readonly target: string;
}

/** The last answer, whatever its status: the service's own, or confirmed. All retries have been made. */
export type AnsweredCall = CallContext & { readonly kind: 'answered'; readonly response: ClientResponse };

export type CallResult = AnsweredCall | (CallContext & { readonly kind: 'given-up'; readonly error: ServiceError });

export type Call = (request: Request, within: CallLimits) => Promise<CallResult>;

/**
 * Why there is another attempt. Only `failed` counts as one of the `retries`: waiting until the service is ready is
 * limited by the deadline alone.
 */
export type RetryKind = 'failed' | 'limited' | 'still-running' | 'unavailable';

export interface Retry {
  readonly delayMs: number;
  readonly kind: RetryKind;
  /** A sentence. */
  readonly reason: string;
}

/** One request and its whole answer, whatever its status; rejects when the connection breaks or the signal is aborted. */
export type Send = (request: SentRequest, signal: AbortSignal) => Promise<RawResponse>;

/** A bearer token for one request. */
export type TokenResult =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'failed'; readonly failure: NoToken }
  /** The limits of the request ended it first. */
  | { readonly kind: 'interrupted' };

/** Gives each request the token that it is sent with, and another one before that ends. */
export interface TokenSource {
  /** The signal is aborted when the limits of the request are over. */
  get(within: CallLimits, signal: AbortSignal): Promise<TokenResult>;
  /** The service has refused the token with 401. Says whether another one may be had. */
  refused(token: string): boolean;
}

/** What all operations of a client share. */
export interface ClientContext {
  readonly call: Call;
  readonly addresses: Endpoints;
  readonly baseUrl: URL;
  readonly clock: Clock;
  readonly serverNow: Clock;
}

/** Throws what a call failed with, if it did. */
export function expectSuccess(result: CallResult): AnsweredCall {
  if (result.kind === 'given-up') throw result.error;
  if (!isSuccess(result.response)) throw result.refuse(result.response);
  return result;
}
