import { parseBaseUrl, parseToken } from '../../client/access.ts';
import type { Duration } from '../../interface/duration.ts';
import {
  identityOf,
  type JobIdentity,
  parseAudience,
  parseBoolean,
  parseDurationBetween,
  parseWholeNumber,
} from './parse.ts';
import { complete, type Read, type Reader } from './reader.ts';

/** The settings for reaching the service. */
export interface ConnectionInputs {
  readonly baseUrl: string;
  readonly credentials: { readonly kind: 'given'; readonly token: string } | JobIdentity;
  /** Time limit of one attempt. */
  readonly requestTimeout: Duration;
  /** Attempts after the first. */
  readonly retries: number;
}

export function readConnection(reader: Reader, environment: NodeJS.ProcessEnv): Read<ConnectionInputs> {
  const { read } = reader;
  const allowHttp = read('allow-http', parseBoolean);
  // An invalid allow-http is reported on its own, and must not make the URL invalid as well.
  const baseUrl = read('base-url', (text) => parseBaseUrl(text, allowHttp ?? true, '`allow-http: true`'));
  return complete<ConnectionInputs>({
    baseUrl,
    credentials: readCredentials(reader, baseUrl, environment),
    requestTimeout: read('request-timeout', parseDurationBetween({ seconds: 1 }, { seconds: 3_600 })),
    retries: read('retries', parseWholeNumber(100)),
  });
}

const parseServiceToken = parseToken('It must be an API token, without spaces or line breaks. Pass it from a secret.');

const neitherWay =
  'Pass a token of the service from a secret, or let the job authenticate with its OIDC token: give it `permissions: id-token: write`, and have the operator of the service add a trust rule.';

/** A given token takes precedence over the identity of the job. */
function readCredentials(
  { read, raw, complain }: Reader,
  baseUrl: Read<string>,
  environment: NodeJS.ProcessEnv,
): Read<ConnectionInputs['credentials']> {
  const audience = read('audience', parseAudience);
  if (raw.token !== '') {
    const token = read('token', parseServiceToken);
    return token === undefined ? undefined : { kind: 'given', token };
  }
  const identity = identityOf(environment);
  if (identity === undefined) complain('token', neitherWay);
  if (identity === undefined || baseUrl === undefined || audience === undefined) return undefined;
  return { kind: 'identity', ...identity, audience: audience || new URL(baseUrl).origin };
}
