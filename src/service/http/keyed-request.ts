import type { Context } from 'hono';
import type { Environment } from './environment.ts';
import { type KeyedRequest, keyedRequest } from './idempotency.ts';
import { bearerOf } from './operation.ts';

export const keyedRequestOf = (c: Context<Environment>): KeyedRequest | undefined =>
  keyedRequest({
    tokenId: bearerOf(c).id,
    key: c.req.header('idempotency-key'),
    method: c.req.method,
    path: c.req.path,
    ifMatch: c.req.header('if-match'),
    body: c.get('bodyText'),
  });
