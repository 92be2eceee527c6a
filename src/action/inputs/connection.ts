import { parseBaseUrl, readIdentityRequest } from '../../client/access.ts';
import { complete, type Reader } from './table.ts';

export type ConnectionInputs = Exclude<ReturnType<typeof readConnection>, undefined>;

export function readConnection(reader: Reader, environment: NodeJS.ProcessEnv) {
  const { read, readAs } = reader;
  const allowHttp = read('allow-http');
  // An invalid allow-http is reported on its own, and must not make the URL invalid as well.
  const baseUrl = readAs('base-url', (text) => parseBaseUrl(text, allowHttp ?? true, '`allow-http: true`'));
  return complete({
    allowHttp,
    baseUrl,
    credentials: readCredentials(reader, baseUrl, environment),
    requestTimeout: read('request-timeout'),
    retries: read('retries'),
  });
}

const credentialsAdvice =
  'Pass a token of the service from a secret, or let the job authenticate with its OIDC token: give it `id-token: write`, under `permissions:`, and have the operator of the service add a trust rule.';

/** A given token takes precedence over the identity of the job. */
function readCredentials(
  { read, raw, addProblem }: Reader,
  baseUrl: string | undefined,
  environment: NodeJS.ProcessEnv,
) {
  const audience = read('audience');
  if (raw.token !== '') {
    const token = read('token');
    return token === undefined ? undefined : ({ kind: 'static', token } as const);
  }
  const identity = readIdentityRequest(environment);
  if (identity === undefined) addProblem('token', credentialsAdvice);
  if (identity === undefined || baseUrl === undefined || audience === undefined) return undefined;
  return { kind: 'identity', ...identity, audience: audience || new URL(baseUrl).origin } as const;
}
