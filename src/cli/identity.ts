import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readIdentityRequest } from '../client/access.ts';
import type { IdentityCredentials, IssueIdentityToken } from '../client/exchange.ts';
import { ServiceError } from '../client/service-error.ts';
import { startErrorText } from '../interface/system-errors.ts';

/** The identity of a CI job, which the service exchanges for a token. Undefined if there is none. */
export function identityOf(environment: NodeJS.ProcessEnv, baseUrl: string): IdentityCredentials | undefined {
  const audience = new URL(baseUrl).origin;
  const issuer = issuerOf(environment, audience);
  return issuer && { kind: 'identity', audience, issuer };
}

function issuerOf(environment: NodeJS.ProcessEnv, audience: string): IdentityCredentials['issuer'] | undefined {
  const tokens = Object.entries(environment)
    .filter(([name, value]) => /^WORKSPACE_ID_TOKEN(_\d+)?$/.test(name) && value)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([, value = '']) => value);
  if (tokens.length > 0) return oneByOne(tokens);
  if (environment['BUILDKITE_AGENT_ACCESS_TOKEN']) return askBuildkite(environment, audience);
  return readIdentityRequest(environment);
}

/** GitLab issues all identity tokens when a job starts, and the service exchanges each once. Outages use none. */
function oneByOne(tokens: readonly string[]): IssueIdentityToken {
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
  (environment: NodeJS.ProcessEnv, audience: string): IssueIdentityToken =>
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
