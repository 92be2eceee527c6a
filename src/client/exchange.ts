import { unlessAborted } from '../interface/timers.ts';
import type { IdentityRequest } from './access.ts';
import { createCall } from './call.ts';
import { openConnection } from './connection.ts';
import { noMarks } from './marks.ts';
import { expectFound } from './refusal.ts';
import { type CallLimits, type CallOptions, expectSuccess, type Succeeded, type TokenSource } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';
import { type Failure, ServiceError } from './service-error.ts';
import { createServerClock } from './time.ts';

/** Short-lived tokens, received in exchange for an identity token of the job. */
export interface IdentityCredentials {
  readonly kind: 'identity';
  /** The audience of the identity tokens. */
  readonly audience: string;
  readonly issuer: IdentityRequest | IssueIdentityToken;
  /** Called before the first use of each token of the service, and of each identity token that was requested. */
  readonly onToken?: ((token: string) => void) | undefined;
}

/**
 * Returns a new JSON Web Token with the identity of the client. `unanswered` is the previous one, if the service
 * neither accepted nor rejected it. Throws a ServiceError.
 */
export type IssueIdentityToken = (within: CallLimits, unanswered: string | undefined) => Promise<string>;

const useToken = 'Set WORKSPACE_TOKEN to an API token, from a secret.';

/** A token is no longer used if less time than this is left, because a request and its response may take a while. */
const minRemainingMs = 120_000;

/**
 * A JSON Web Token is accepted only once, and for a few minutes. After retries, that may be the only reason for a
 * refusal.
 */
const maxIdentityTokens = 3;

/** RFC 8693, section 2.1. */
const tokenExchange = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
};

/** Exchanges tokens (RFC 8693), and uses each until it is about to expire. Concurrent requests share an exchange. */
export function createTokenSource(credentials: IdentityCredentials, options: CallOptions, target: string): TokenSource {
  const { timeoutMs, clock, closed } = options;
  const { audience, issuer, onToken } = credentials;
  const call = createCall(options);
  const issueIdentityToken = typeof issuer === 'function' ? issuer : openIssuer(issuer, credentials, options);
  /** `usedUntil` is by the clock of this machine, and infinite if the service does not report an expiry. */
  let current: { readonly token: string; readonly usedUntil: number } | undefined;
  let running: Promise<string | Failure> | undefined;
  let unanswered: string | undefined;

  function keepToken({ response }: Succeeded, requestedAt: number): string {
    const token = tokenIn(response) ?? '';
    const { expires_in } = objectIn(response);
    onToken?.(token);
    const lifetimeMs = typeof expires_in === 'number' ? expires_in * 1_000 : Number.POSITIVE_INFINITY;
    current = { token, usedUntil: requestedAt + Math.max(lifetimeMs - minRemainingMs, lifetimeMs / 2) };
    return token;
  }

  async function exchange(limits: CallLimits): Promise<string | Failure> {
    // All waiting requests share the exchange, even if the first one is cancelled or runs out of time.
    const deadline = Math.max(limits.deadline, clock() + 2 * timeoutMs);
    const within = { ...limits, deadline, signal: closed };
    for (let identityTokens = 1; ; identityTokens += 1) {
      let identityToken: string;
      try {
        identityToken = await issueIdentityToken(within, unanswered);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        // Omits the advice of the error, which is about the service: the identity token comes from another server.
        return withoutToken(error, `There is no identity token for this job. ${error.reason} Run the job again.`);
      }
      const isRepeated = identityToken === unanswered;
      unanswered = identityToken;
      const requestedAt = clock();
      const body = new URLSearchParams({ ...tokenExchange, subject_token: identityToken });
      const result = await call(
        { method: 'POST', target, body, secrets: [identityToken], expect: expectToken },
        within,
      );
      if (result.kind === 'succeeded' || result.response?.status === 400) unanswered = undefined;
      if (result.kind === 'succeeded') return keepToken(result, requestedAt);
      const { error } = result;
      const { status = 0, reason, advice } = error;
      const refused = `The service did not issue a token to this job. ${reason}`;
      if (result.response === undefined) {
        const unsupported = ` If the service does not support OIDC token exchange: ${useToken}`;
        return withoutToken(error, refused + advice + (isUnsupported(status) ? unsupported : ''));
      }
      if (isUnsupported(status)) {
        return withoutToken(error, `The service does not support OIDC token exchange. ${useToken}`);
      }
      const mayBeUsed = error.attempts > 1 || isRepeated;
      if (status === 400 && mayBeUsed && identityTokens < maxIdentityTokens) continue;
      const untrusted = ` The audience of the identity token is ${audience}; it must be the origin of the service's public URL.`;
      return withoutToken(error, refused + (status === 400 ? untrusted : advice));
    }
  }

  return {
    async get(within, signal) {
      if (current !== undefined && clock() < current.usedUntil) return current.token;
      running ??= exchange(within).finally(() => {
        running = undefined;
      });
      return unlessAborted(running, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      });
    },
    invalidate(token) {
      // Another request may already have replaced it.
      if (token === current?.token) current = undefined;
    },
  };
}

const withoutToken = (error: ServiceError, reason: string): Failure => ({
  kind: 'no-token',
  reason,
  tokenRequest: error.request,
  isTransient: error.isTransient,
});

/** A service that checks for a token first answers 401. */
const isUnsupported = (status: number): boolean => [401, 404, 405].includes(status);

const tokenIn = (response: ClientResponse): string | undefined => {
  const { access_token } = objectIn(response);
  return typeof access_token === 'string' && /^[\x21-\x7e]+$/.test(access_token) ? access_token : undefined;
};

const expectToken = expectFound(tokenIn, 'it contains no token');

/**
 * Requests an identity token for the job from the server of the runner, like the toolkit's `getIDToken`. That function
 * has no deadline and cannot be cancelled, and its HTTP client would also be loaded by steps with a token.
 */
function openIssuer(
  { requestUrl, requestToken }: IdentityRequest,
  { audience, onToken }: IdentityCredentials,
  options: CallOptions,
): IssueIdentityToken {
  const url = new URL(requestUrl);
  url.searchParams.set('audience', audience);
  const connection = openConnection(url);
  options.closed.addEventListener('abort', () => connection.close(), { once: true });
  const call = createCall({
    ...options,
    baseUrl: url,
    server: 'GitHub',
    serverClock: createServerClock(options.clock),
    send: connection.send,
    headers: { authorization: `Bearer ${requestToken}`, accept: 'application/json' },
    secrets: [requestToken],
    // The headers of this server say nothing about the service.
    onResponse: undefined,
    marks: noMarks,
  });

  const expect = expectFound(identityIn, 'it contains no identity token');

  return async (within) => {
    const target = url.pathname + url.search;
    const { response } = expectSuccess(await call({ method: 'GET', target, expect }, within));
    const identity = identityIn(response) ?? '';
    onToken?.(identity);
    return identity;
  };
}

/** A JSON Web Token: RFC 7515, section 7.1. */
function identityIn(response: ClientResponse): string | undefined {
  const { value } = objectIn(response);
  return typeof value === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? value : undefined;
}
