import { createHash } from 'node:crypto';
import { Refusal } from '../contract/problem.ts';

export const maxKeyLength = 255;
export const keyPattern = /^[\x21-\x7e]+$/;

/**
 * A request that was sent with a key, so that sending it again does not do it again. A key is the token's own, and in each
 * workspace another: requests of two workspaces are not made one after the other, and could not look each other up.
 */
export interface KeyedRequest {
  readonly tokenId: string;
  readonly key: string;
  /** Tells apart different requests that use the same key by mistake. */
  readonly fingerprint: string;
}

export interface RequestParts {
  readonly tokenId: string;
  readonly key: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

export function keyedRequest({ tokenId, key, method, path, ifMatch, body }: RequestParts): KeyedRequest | undefined {
  if (key === undefined) return undefined;
  if (key.length > maxKeyLength || !keyPattern.test(key)) {
    const detail = `It has to be 1 to ${maxKeyLength} visible ASCII characters.`;
    throw new Refusal('invalid-request', `Idempotency-Key: ${detail}`, {
      errors: [{ pointer: '#/Idempotency-Key', detail }],
    });
  }
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([method, path, ifMatch ?? null, body]))
    .digest('hex');
  return { tokenId, key, fingerprint };
}
