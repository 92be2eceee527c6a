/** What answers carry besides what HTTP itself gives them, as the OpenAPI document describes it. */
const responseHeaders = {
  'X-Request-Id': {
    description: 'Names the request in the log of the service; a problem has it as request_id, too.',
    schema: { type: 'string' },
  },
  'Cache-Control': { description: 'No answer is to be kept.', schema: { type: 'string', example: 'no-store' } },
  'X-Content-Type-Options': {
    description: 'No answer is anything but what its type says.',
    schema: { type: 'string', example: 'nosniff' },
  },
  'RateLimit-Policy': {
    description:
      'How many requests the token may send at once (q), and in how many seconds as many are there again (w). Left out where the operator has set no limit.',
    schema: { type: 'string', example: '"token";q=60000;w=60' },
  },
  RateLimit: {
    description:
      'How many requests of the token are left (r), and in how many seconds there is one (t). Left out where the operator has set no limit.',
    schema: { type: 'string', example: '"token";r=59999;t=0' },
  },
  'Retry-After': {
    description: 'In how many seconds it is worth asking again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the token, or which scope it lacks (RFC 6750).',
    schema: { type: 'string', example: 'Bearer realm="workspace-service"' },
  },
  'Accept-Encoding': {
    description: 'Where the body was refused for its Content-Encoding: what it may have.',
    schema: { type: 'string', example: 'identity' },
  },
  Allow: { description: 'With 405: the methods of the address.', schema: { type: 'string', example: 'DELETE' } },
  ETag: {
    description: 'Names the lock that is there, for If-Match.',
    schema: { type: 'string', example: '"lock_1"' },
  },
  Location: {
    description: 'The address of what was made, or of what tells how it goes on.',
    schema: { type: 'string', example: '/v1/workspaces/game/locks/Content%2FHero.uasset' },
  },
  'Idempotency-Replayed': {
    description: 'The request was carried out before, under the same Idempotency-Key: this is the answer of then.',
    schema: { type: 'string', example: 'true' },
  },
  Link: {
    description: 'The next page, where there is one (RFC 8288).',
    schema: { type: 'string', example: '</v1/workspaces/game/locks?limit=100&cursor=YQ>; rel="next"' },
  },
  'Preference-Applied': {
    description: 'The request has waited, until the path was free or for so many seconds.',
    schema: { type: 'string', example: 'wait=30' },
  },
  Vary: {
    description: 'Where Prefer decides when the request is answered.',
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

/** On some of them: the description says when. */
export const sometimes = (...names: readonly HeaderName[]): ResponseHeaders => describe(false, names);

const ofEveryAnswer = always('X-Request-Id', 'Cache-Control', 'X-Content-Type-Options');
const ofEveryAnswerToAToken = sometimes('RateLimit', 'RateLimit-Policy');

/** Written once in the document, because most answers have them. */
export const commonHeaders = Object.entries({ ...ofEveryAnswer, ...ofEveryAnswerToAToken });

const references = (headers: ResponseHeaders): ResponseHeaders =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** What an answer has whatever it says. */
export const commonHeadersOf = ({ toAToken }: { readonly toAToken: boolean }): ResponseHeaders =>
  references({ ...ofEveryAnswer, ...(toAToken && ofEveryAnswerToAToken) });
