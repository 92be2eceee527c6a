import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { problemMediaType } from '../../interface/problem.ts';
import { bearerOf } from '../access/caller.ts';
import { type ApiResponse, jsonApiResponse, Refusal } from '../contract/response.ts';
import { problemSchema } from '../contract/schemas.ts';
import { scopes } from '../contract/scopes.ts';
import { isForm, readText } from '../http/body.ts';
import type { Environment } from '../http/context.ts';
import { readParameters } from '../http/request-target.ts';
import { exchangedTokenSeconds } from '../trust/exchange.ts';
import { maxIdentityLength } from '../trust/verify-identity.ts';
import { type Api, type ApiParts, addOperation, jsonResponse } from './operation.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const typeOf = (name: 'jwt' | 'id_token' | 'access_token') => `urn:ietf:params:oauth:token-type:${name}` as const;
const identityTypes = [typeOf('jwt'), typeOf('id_token')] as const;

/** RFC 8693, section 2.1. */
const requestSchema = z
  .object({
    grant_type: z.literal(grantType),
    subject_token: z.string().openapi({
      description: 'A JWT whose audience is the origin of this service, and that was not exchanged before.',
      maxLength: maxIdentityLength,
    }),
    subject_token_type: z.enum(identityTypes),
    requested_token_type: z.literal(typeOf('access_token')).optional(),
    scope: z.string().optional().openapi({
      description: 'Scopes, separated by spaces. Default: all that the trust rules allow.',
      example: 'locks:write',
    }),
  })
  .openapi('TokenExchangeRequest');

const tokenSchema = z
  .object({
    access_token: z.string(),
    issued_token_type: z.literal(typeOf('access_token')),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int().openapi({ example: exchangedTokenSeconds }),
    scope: z.string(),
  })
  .openapi('ExchangedToken');

const errorCodes = ['invalid_request', 'invalid_scope', 'unsupported_grant_type', 'temporarily_unavailable'] as const;

/** RFC 6749, section 5.2, which RFC 8693 refers to. */
const errorSchema = z
  .object({ error: z.enum(errorCodes), error_description: z.string() })
  .openapi('TokenExchangeError');

const ownTokenSchema = z
  .object({
    id: z.string().openapi({ example: 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11' }),
    name: z.string().openapi({ example: 'laptop' }),
    owner: z.string().openapi({ description: 'Owner of its locks.', example: 'ada' }),
    scopes: z.array(z.enum(scopes)),
    workspaces: z
      .array(z.string())
      .nullable()
      .openapi({ description: 'The workspaces that the token is limited to; null for all.' }),
  })
  .openapi('Token');

export function addTokenRoutes(api: Api, parts: ApiParts): void {
  // Lets a client recognize its own locks.
  addOperation(api, parts, {
    operationId: 'getToken',
    summary: 'Get the owner and the scopes of the token of this request',
    method: 'get',
    path: '/v1/token',
    access: 'any-token',
    responses: { 200: jsonResponse('The token, without its secret.', ownTokenSchema) },
    async handle({ c }) {
      const { id, name, owner, scopes, workspaces } = bearerOf(c);
      return jsonApiResponse(200, { id, name, owner, scopes, workspaces });
    },
  });

  // Token exchange (RFC 8693), with the errors of OAuth instead of problem details.
  addOperation(api, parts, {
    operationId: 'exchangeToken',
    summary: 'Exchange the identity of a job for a token (RFC 8693)',
    description:
      'The response is the same for any invalid JWT and for one that no trust rule matches. The log of the service has the reason.',
    method: 'post',
    path: '/v1/token',
    access: 'anyone',
    ownBody: { 'application/x-www-form-urlencoded': { schema: requestSchema } },
    responses: {
      200: jsonResponse('A token that is valid for 15 minutes.', tokenSchema),
      400: jsonResponse('Refused (RFC 6749, section 5.2).', errorSchema),
      429: jsonResponse('Too many exchanges.', errorSchema),
      503: {
        description: 'The keys of the issuer cannot be fetched, or the database does not answer.',
        content: { 'application/json': { schema: errorSchema }, [problemMediaType]: { schema: problemSchema } },
      },
    },
    async handle({ c }) {
      const form = await readForm(c);
      if (typeof form === 'string') return errorResponse('invalid_request', form);
      const { grant_type = '' } = form;
      if (grant_type !== '' && grant_type !== grantType) {
        return errorResponse('unsupported_grant_type', `The only supported grant_type is ${grantType}.`);
      }
      const parsed = requestSchema.safeParse(form);
      if (!parsed.success) {
        const [name] = parsed.error.issues.flatMap(({ path }) => path.map(String));
        return errorResponse('invalid_request', `The parameter ${name} is missing or has an unsupported value.`);
      }
      const { subject_token: jwt, scope = '' } = parsed.data;
      const exchange = await parts.exchangeToken({
        jwt,
        scopes: scope.split(' ').filter((name) => name !== ''),
        address: c.get('clientAddress'),
        requestId: c.get('requestId'),
      });
      switch (exchange.kind) {
        case 'exchanged':
          return jsonApiResponse(200, {
            access_token: exchange.secret,
            issued_token_type: typeOf('access_token'),
            token_type: 'Bearer',
            expires_in: exchangedTokenSeconds,
            scope: exchange.scopes.join(' '),
          });
        case 'refused':
          return errorResponse(
            'invalid_request',
            'The subject_token was rejected: it is invalid, or no trust rule matches it. The log of the service says why. Its operator adds a rule with: workspace-service trust add',
          );
        case 'invalid-scope':
          return errorResponse(
            'invalid_scope',
            'The trust rules of the service do not allow a token with these scopes.',
          );
        case 'limited':
          return retryLater(429, 'Too many token exchanges.', exchange.retryAfterSeconds);
        case 'unavailable':
          return retryLater(503, 'Could not fetch the keys of the issuer.', exchange.retryAfterSeconds);
      }
    },
  });
}

type ErrorCode = (typeof errorCodes)[number];

const errorResponse = (code: ErrorCode, description: string): ApiResponse =>
  jsonApiResponse(400, { error: code, error_description: description });

function retryLater(status: 429 | 503, reason: string, retryAfterSeconds: number): ApiResponse {
  const error_description = `${reason} Try again after the time in Retry-After.`;
  const headers = { 'retry-after': String(retryAfterSeconds) };
  return jsonApiResponse(status, { error: 'temporarily_unavailable', error_description }, headers);
}

/** Large enough for an overlong JWT to get its own error. */
const maxFormBytes = 8 * maxIdentityLength;

async function readForm(c: Context<Environment>): Promise<Readonly<Record<string, string>> | string> {
  const { incoming } = c.env;
  if (!isForm(incoming.headers['content-type'] ?? '')) return 'Send a form: application/x-www-form-urlencoded.';
  const text = await readText(incoming, maxFormBytes);
  try {
    const parameters = readParameters(text, Object.keys(requestSchema.shape));
    // RFC 6749, section 3.2: a parameter without a value counts as omitted.
    return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}
