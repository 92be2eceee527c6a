import { createTokenSource, type ExchangeContext } from '../../client/exchange.ts';
import { openIssuer } from '../../client/identity-token.ts';
import type { TokenSource } from '../../client/request.ts';
import type { JobIdentity } from '../inputs/connection.ts';
import type { Reporter } from '../report/reporter.ts';
import { claimsIn, trustCommand } from './trust-command.ts';

/** The API tokens of a job that authenticates with its OIDC identity. Each of its processes exchanges its own. */
export function createJobTokens(identity: JobIdentity, exchange: ExchangeContext, mask: Reporter['mask']): TokenSource {
  const issue = openIssuer({ ...identity, server: 'GitHub' }, exchange, mask);
  let identityToken = '';
  return createTokenSource({
    ...exchange,
    issueIdentityToken: async (within) => {
      identityToken = await issue(within);
      return identityToken;
    },
    onToken: mask,
    messages: {
      unanswered: 'GitHub issued no identity token for this job, so the service cannot authenticate it.',
      unsupported: 'Set the input `token` to an API token, from a secret.',
      // The service matches its rules against the claims of the identity token, which has more than the environment of
      // the job.
      get untrusted() {
        return `Its operator can add a trust rule for this job: \`${trustCommand(claimsIn(identityToken))}\`. The audience of the identity token is ${identity.audience}; it must be the origin of the service's public URL.`;
      },
    },
  });
}
