import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type Answer, type Instead, openOtherServer, type SeenRequest } from './other-servers/other-server.ts';
import { json, nothing } from './other-servers/responses.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Differences from a well-behaved issuer; a test may change them at any time. */
export interface IssuerBehaviour {
  discovery?: Instead | undefined;
  keys?: Instead | undefined;
  /** The behavior of the runner endpoint where a job requests its identity token. */
  runner?: Instead | undefined;
}

export interface Header {
  readonly alg?: 'RS256' | 'ES256' | 'HS256' | 'none';
  /** The key id; null omits it. */
  readonly kid?: string | null;
  readonly [name: string]: unknown;
}

/** Claims of a GitHub job, as far as rules use them: https://docs.github.com/en/actions/reference/security/oidc */
export const githubClaims: Claims = {
  sub: 'repo:octo/game:ref:refs/heads/main',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  ref_protected: 'true',
  sha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  repository: 'octo/game',
  repository_id: '123',
  repository_owner: 'octo',
  repository_owner_id: '45',
  actor: 'ada',
  workflow: 'Release',
  workflow_ref: 'octo/game/.github/workflows/release.yml@refs/heads/main',
  job_workflow_ref: 'octo/game/.github/workflows/release.yml@refs/heads/main',
  run_id: '4711',
  run_attempt: '1',
  event_name: 'push',
};

interface KeyPair {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

type Keys = Readonly<Record<'RS256' | 'ES256', KeyPair>>;

const newKeys = (): Keys => ({
  RS256: { kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2_048 }) },
  ES256: { kid: randomUUID(), ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** RFC 7518 section 3. The secret of HS256 is the public key, as an attacker without the private key would try. */
function signatureOf(text: string, alg: NonNullable<Header['alg']>, keys: Keys): Buffer {
  switch (alg) {
    case 'RS256':
      return sign('sha256', Buffer.from(text), keys.RS256.privateKey);
    case 'ES256':
      return sign('sha256', Buffer.from(text), { key: keys.ES256.privateKey, dsaEncoding: 'ieee-p1363' });
    case 'HS256': {
      const secret = keys.RS256.publicKey.export({ type: 'spki', format: 'pem' });
      return createHmac('sha256', secret).update(text).digest();
    }
    case 'none':
      return Buffer.alloc(0);
  }
}

export interface IssuerOptions {
  /** The path of its URL, such as that of GitHub Enterprise Server. */
  readonly path?: string;
  /** Makes the issuer use https with this host name. */
  readonly tls?: { readonly name: string; readonly key: string; readonly cert: string };
  /** Milliseconds since 1970, for JWTs. */
  readonly clock?: () => number;
}

export type OidcIssuer = Awaited<ReturnType<typeof startOidcIssuer>>;

/** An OpenID Connect issuer on this machine, and the runner endpoint that issues its JWTs to jobs. */
export async function startOidcIssuer({ path = '', tls, clock = Date.now }: IssuerOptions = {}) {
  const handedOut: string[] = [];
  const behaviour: IssuerBehaviour = {};
  const runnerToken = `runner-${randomUUID()}`;
  let keys = newKeys();
  let url = '';

  const discovery = () =>
    json(200, { issuer: url, jwks_uri: `${url}/jwks`, id_token_signing_alg_values_supported: ['RS256'] });

  const publicKeys = () =>
    json(200, {
      keys: Object.entries(keys).map(([alg, { kid, publicKey }]) => ({
        ...publicKey.export({ format: 'jwk' }),
        alg,
        kid,
        use: 'sig',
      })),
    });

  /** A JWT for this audience; undefined claims are omitted. */
  function signJwt(audience: string, claims: Claims = {}, { alg = 'RS256', kid, ...header }: Header = {}): string {
    const now = Math.floor(clock() / 1_000);
    const ofKey = kid === undefined ? keys[alg === 'ES256' ? 'ES256' : 'RS256'].kid : kid;
    const head = { typ: 'JWT', alg, ...(ofKey !== null && { kid: ofKey }), ...header };
    const times = { iat: now, nbf: now, exp: now + 300 };
    const body = { ...githubClaims, jti: randomUUID(), iss: url, aud: audience, ...times, ...claims };
    const text = `${encoded(head)}.${encoded(body)}`;
    return `${text}.${signatureOf(text, alg, keys).toString('base64url')}`;
  }

  const issuer = {
    behaviour,
    /** The JWTs that the runner has issued, in order. */
    get handedOut(): readonly string[] {
      return handedOut;
    },
    /** Changes the claims about the job in the JWTs of the runner. */
    jobClaims: {} as Claims,
    sign: signJwt,
    /** Signs with new keys, and serves only those. */
    rotate() {
      keys = newKeys();
    },
  };

  function runner(request: SeenRequest): Answer {
    if (request.headers.authorization !== `Bearer ${runnerToken}`) return json(401, { message: 'Bad credentials' });
    const parameters = Object.fromEntries(new URL(request.url, url).searchParams);
    // Further parameters that a test adds to the URL become claims of the job.
    const { audience = 'https://github.com/octo', 'api-version': _, ...claims } = parameters;
    const jwt = signJwt(audience, { ...issuer.jobClaims, ...claims });
    handedOut.push(jwt);
    return json(200, { count: jwt.length, value: jwt });
  }

  async function responseTo(request: SeenRequest): Promise<Answer> {
    switch (new URL(request.url, url).pathname) {
      case '/runner/idtoken':
        return (await behaviour.runner?.(request)) ?? runner(request);
      case `${path}/.well-known/openid-configuration`:
        return (await behaviour.discovery?.(request)) ?? discovery();
      case `${path}/jwks`:
        return (await behaviour.keys?.(request)) ?? publicKeys();
      default:
        return nothing(404);
    }
  }

  const server = await openOtherServer(async (response, request) => (await responseTo(request))(response, request), {
    ...(tls && { tls }),
  });
  const origin = tls === undefined ? server.origin : `https://${tls.name}:${server.port}`;
  url = origin + path;
  return Object.assign(issuer, {
    ...server,
    url,
    /** The variables that the runner sets for the steps of a job with `id-token: write`. */
    runnerEnvironment: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/runner/idtoken?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: runnerToken,
    },
  });
}
