import { createHash } from 'node:crypto';
import { invalid } from '../contract/problem.ts';

export const maxKeyLength = 255;
export const keyPattern = /^[\x21-\x7e]+$/;

/**
 * A request sent with an Idempotency-Key. Keys are scoped to a token and a workspace, because requests for different
 * workspaces run in parallel and could not see each other.
 */
export interface KeyedRequest {
  readonly tokenId: string;
  readonly key: string;
  /** Distinguishes requests that share a key by mistake. */
  readonly fingerprint: string;
}

/**
 * `content` is all that must be the same if the request is sent again with its key. Its order must not change, because
 * fingerprints are stored.
 */
export function keyedRequest(tokenId: string, key: string, content: readonly unknown[]): KeyedRequest {
  if (key.length > maxKeyLength || !keyPattern.test(key)) {
    throw invalid({
      pointer: '#/Idempotency-Key',
      detail: `It must be 1 to ${maxKeyLength} visible ASCII characters.`,
    });
  }
  const fingerprint = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { tokenId, key, fingerprint };
}
