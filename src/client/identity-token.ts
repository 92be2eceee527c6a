import { createCall } from './call.ts';
import { createServerClock } from './clock.ts';
import { openConnection } from './connection.ts';
import type { ExchangeContext } from './exchange.ts';
import { expectFound } from './refusal.ts';
import { type CallLimits, expectSuccess } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';

interface IdentityRequest {
  readonly server: string;
  readonly requestUrl: string;
  /** Issued by the runner for these requests, and secret. */
  readonly requestToken: string;
  readonly audience: string;
}

/**
 * Requests an identity token for the job from the server of its runner, as the toolkit's `getIDToken` does. That
 * function has no deadlines and no cancellation, and its HTTP client would be in the entry chunk, which steps with a
 * token load too.
 */
export function openIssuer(
  { server, requestUrl, requestToken, audience }: IdentityRequest,
  exchange: ExchangeContext,
  mask: (secret: string) => void,
) {
  const url = new URL(requestUrl);
  url.searchParams.set('audience', audience);
  const connection = openConnection(url);
  exchange.closed.addEventListener('abort', () => connection.close(), { once: true });
  const call = createCall({
    ...exchange,
    baseUrl: url,
    server,
    serverClock: createServerClock(exchange.clock),
    send: connection.send,
    headers: { authorization: `Bearer ${requestToken}`, accept: 'application/json' },
    secrets: [requestToken],
    // The headers of this server say nothing about the service.
    onResponse: undefined,
  });

  const expect = expectFound(identityIn, 'it contains no identity token');

  return async (within: CallLimits): Promise<string> => {
    const target = url.pathname + url.search;
    const { response } = expectSuccess(await call({ method: 'GET', target, expect }, within));
    const identity = identityIn(response) ?? '';
    mask(identity);
    return identity;
  };
}

/** A JSON Web Token: RFC 7515, section 7.1. */
function identityIn(response: ClientResponse): string | undefined {
  const { value } = objectIn(response);
  return typeof value === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? value : undefined;
}
