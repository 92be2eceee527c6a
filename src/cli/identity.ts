import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readIdentityRequest } from '../client/access.ts';
import { createTokenSource, type ExchangeContext, type ExchangeOptions, openIssuer } from '../client/exchange.ts';
import { ServiceError } from '../client/service-error.ts';
import { startErrorText } from '../interface/system-errors.ts';

type IssueToken = ExchangeOptions['issueIdentityToken'];

/** The identity of a CI job, which the service exchanges for a token. Undefined if there is none. */
export function identityOf(environment: NodeJS.ProcessEnv, baseUrl: string) {
  const audience = new URL(baseUrl).origin;
  const open = issuerOf(environment, audience);
  if (open === undefined) return undefined;
  return {
    kind: 'exchanged' as const,
    open: async (exchange: ExchangeContext) =>
      createTokenSource({
        ...exchange,
        issueIdentityToken: open(exchange),
        onToken: () => undefined,
        audience,
      }),
  };
}

function issuerOf(
  environment: NodeJS.ProcessEnv,
  audience: string,
): ((exchange: ExchangeContext) => IssueToken) | undefined {
  const tokens = Object.entries(environment)
    .filter(([name, value]) => /^WORKSPACE_ID_TOKEN(_\d+)?$/.test(name) && value)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([, value = '']) => value);
  if (tokens.length > 0) return () => oneByOne(tokens);
  if (environment['BUILDKITE_AGENT_ACCESS_TOKEN']) return () => askBuildkite(environment, audience);
  const request = readIdentityRequest(environment);
  return request && ((exchange) => openIssuer({ ...request, audience }, exchange, () => undefined));
}

/** GitLab issues all identity tokens when a job starts, and the service exchanges each once. Outages use none. */
function oneByOne(tokens: readonly string[]): IssueToken {
  const unused = tokens.values();
  return async (_, unanswered) => {
    const identity = unanswered ?? unused.next().value;
    if (identity === undefined)
      throw noIdentity(
        `The job has used all its identity tokens (${tokens.length}): each one is good for 15 minutes. Give the job more, as WORKSPACE_ID_TOKEN_2 and so on.`,
      );
    return identity;
  };
}

const askBuildkite =
  (environment: NodeJS.ProcessEnv, audience: string): IssueToken =>
  async ({ signal }) => {
    const claims = ['--claim', 'organization_id', '--claim', 'pipeline_id'];
    const options = { env: environment, timeout: 30_000, ...(signal !== undefined && { signal }) };
    try {
      const args = ['oidc', 'request-token', '--audience', audience, ...claims];
      return (await promisify(execFile)('buildkite-agent', args, options)).stdout.trim();
    } catch (error) {
      throw noIdentity(`buildkite-agent failed: ${startErrorText(error)}`, true);
    }
  };

const noIdentity = (reason: string, transient = false): ServiceError =>
  new ServiceError(
    { method: 'POST', path: '/v1/token', attempts: 0 },
    { kind: 'no-token', reason, isTransient: transient },
  );
