/** The headers of answers beyond those of HTTP itself, as the OpenAPI document describes them. */
const responseHeaders = {
  'X-Request-Id': {
    description: 'Identifies the request in the log of the service; also the request_id of a problem.',
    schema: { type: 'string' },
  },
  'Cache-Control': { description: 'Answers must not be stored.', schema: { type: 'string', example: 'no-store' } },
  'X-Content-Type-Options': {
    description: 'Answers must not be interpreted as another type.',
    schema: { type: 'string', example: 'nosniff' },
  },
  'RateLimit-Policy': {
    description:
      'How many requests the token may send at once (q), and the seconds until the quota is full again (w). Absent if the operator has set no limit.',
    schema: { type: 'string', example: '"token";q=60000;w=60' },
  },
  RateLimit: {
    description:
      'How many requests the token has left (r), and the seconds until there is one (t). Absent if the operator has set no limit.',
    schema: { type: 'string', example: '"token";r=59999;t=0' },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the token, or which scope it lacks (RFC 6750).',
    schema: { type: 'string', example: 'Bearer realm="workspace-service"' },
  },
  'Accept-Encoding': {
    description: 'The supported Content-Encoding, when the body was refused for its own.',
    schema: { type: 'string', example: 'identity' },
  },
  Allow: { description: 'With 405: the supported methods.', schema: { type: 'string', example: 'DELETE' } },
  ETag: {
    description: 'Identifies the lock, for If-Match.',
    schema: { type: 'string', example: '"lock_1"' },
  },
  Location: {
    description: 'The address of what was created, or of its status.',
    schema: { type: 'string', example: '/v1/workspaces/game/locks/Content%2FHero.uasset' },
  },
  'Idempotency-Replayed': {
    description: 'The request was carried out before under the same Idempotency-Key. This is the original answer.',
    schema: { type: 'string', example: 'true' },
  },
  Link: {
    description: 'The next page, if there is one (RFC 8288).',
    schema: { type: 'string', example: '</v1/workspaces/game/locks?limit=100&cursor=YQ>; rel="next"' },
  },
  'Preference-Applied': {
    description: 'The request waited until the path was free, or for this many seconds.',
    schema: { type: 'string', example: 'wait=30' },
  },
  Vary: {
    description: 'Set where Prefer affects the answer.',
    schema: { type: 'string', example: 'Prefer' },
  },
} as const;

type HeaderName = keyof typeof responseHeaders;

type ResponseHeader = (typeof responseHeaders)[HeaderName] & { readonly required: boolean };

interface HeaderReference {
  readonly $ref: string;
}

export type ResponseHeaders = Readonly<Partial<Record<HeaderName, ResponseHeader | HeaderReference>>>;

const describe = (required: boolean, names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name): [string, ResponseHeader] => [name, { ...responseHeaders[name], required }]));

/** On every answer with the status. */
export const always = (...names: readonly HeaderName[]): ResponseHeaders => describe(true, names);

/** On some answers: the description says when. */
export const sometimes = (...names: readonly HeaderName[]): ResponseHeaders => describe(false, names);

const ofEveryAnswer = always('X-Request-Id', 'Cache-Control', 'X-Content-Type-Options');
const ofEveryAnswerToAToken = sometimes('RateLimit', 'RateLimit-Policy');

/** Written once in the document, because most answers have them. */
export const commonHeaders = Object.entries({ ...ofEveryAnswer, ...ofEveryAnswerToAToken });

const references = (headers: ResponseHeaders): ResponseHeaders =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The headers of every answer. */
export const commonHeadersOf = ({ toAToken }: { readonly toAToken: boolean }): ResponseHeaders =>
  references({ ...ofEveryAnswer, ...(toAToken && ofEveryAnswerToAToken) });
