import { createCall } from '../../client/call.ts';
import { createServerClock } from '../../client/clock.ts';
import { openConnection } from '../../client/connection.ts';
import { createTokenSource, type ExchangeContext } from '../../client/exchange.ts';
import { notUnderstood } from '../../client/refusal.ts';
import { type CallLimits, expectSuccess, type Request, type TokenSource } from '../../client/request.ts';
import { type ClientResponse, objectIn } from '../../client/response.ts';
import type { JobIdentity } from '../inputs/parse.ts';
import { claimsIn, trustCommand } from './trust-command.ts';

type Mask = (secret: string) => void;

/** The API tokens of a job that authenticates with its OIDC identity. Each of its processes exchanges its own. */
export function openTokens(identity: JobIdentity, exchange: ExchangeContext, mask: Mask): TokenSource {
  const issue = openIssuer(identity, exchange, mask);
  let shown = '';
  return createTokenSource({
    ...exchange,
    prove: async (within) => {
      shown = await issue(within);
      return shown;
    },
    onToken: mask,
    texts: {
      unanswered: 'GitHub issued no identity token for this job, so the service cannot authenticate it.',
      unsupported: 'Set the input `token` to an API token, from a secret.',
      // The service matches its rules against the claims of the identity token, which has more than the environment of
      // the job.
      get untrusted() {
        return `Its operator can add a trust rule for this job: \`${trustCommand(claimsIn(shown))}\`. The audience of the identity token is ${identity.audience}; it must be the origin of the service's public URL.`;
      },
    },
  });
}

/**
 * Requests an identity token for the job from GitHub, as the toolkit's `getIDToken` does. That function has neither
 * deadlines nor cancellation, and its HTTP client would be in the entry chunk, which steps with a token load too.
 */
function openIssuer({ requestUrl, requestToken, audience }: JobIdentity, exchange: ExchangeContext, mask: Mask) {
  const address = new URL(requestUrl);
  address.searchParams.set('audience', audience);
  const connection = openConnection(address);
  exchange.closed.addEventListener('abort', () => connection.close(), { once: true });
  const call = createCall({
    ...exchange,
    baseUrl: address,
    server: 'GitHub',
    serverClock: createServerClock(exchange.clock),
    send: connection.send,
    isRecognized: () => true,
    maxConnections: 1,
    headers: {
      authorization: `Bearer ${requestToken}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    secrets: [requestToken],
    onResponse: () => undefined,
    onRetry: (retry) => exchange.onRetry({ ...retry, reason: `GitHub: ${retry.reason}` }),
    onThrottled: () => undefined,
  });

  /** Without an excerpt, which could show a token in another form. */
  const expect: Request['expect'] = (response, texts) =>
    identityIn(response) === undefined
      ? notUnderstood(response, texts, 'the response contains no identity token')
      : undefined;

  return async (within: CallLimits): Promise<string> => {
    const target = address.pathname + address.search;
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
