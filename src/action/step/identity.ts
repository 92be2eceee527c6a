import { createTokenSource, type ExchangeContext, openIssuer } from '../../client/exchange.ts';
import type { TokenSource } from '../../client/request.ts';
import type { JobIdentity } from '../inputs/connection.ts';
import type { Reporter } from '../report/reporter.ts';

/** The API tokens of a job that authenticates with its OIDC identity. Each of its processes exchanges its own. */
export function createJobTokens(identity: JobIdentity, exchange: ExchangeContext, mask: Reporter['mask']): TokenSource {
  return createTokenSource({
    ...exchange,
    issueIdentityToken: openIssuer({ ...identity, server: 'GitHub' }, exchange, mask),
    onToken: mask,
    messages: {
      unanswered: 'GitHub issued no identity token for this job, so the service cannot authenticate it.',
      unsupported: 'Set the input `token` to an API token, from a secret.',
      untrusted: `The audience of the identity token is ${identity.audience}; it must be the origin of the service's public URL.`,
    },
  });
}
