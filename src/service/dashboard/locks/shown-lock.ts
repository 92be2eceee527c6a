import type { Lock } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import type { HeldLock } from '../../locks/list.ts';
import type { Bearer } from '../../tokens/tokens.ts';

/** How whoever looks at a lock can release it. */
export type ReleaseWay = 'own' | 'force' | 'none';

/** What a page is told of a lock. */
export interface ShownLock extends Pick<Lock, 'id' | 'path' | 'owner' | 'origin' | 'acquired_at' | 'expires_at'> {
  readonly release: ReleaseWay;
}

export function releaseWay({ id, scopes }: Bearer, tokenId: string): ReleaseWay {
  if (tokenId === id) return grants(scopes, 'locks:write') ? 'own' : 'none';
  return grants(scopes, 'locks:admin') ? 'force' : 'none';
}

export const shownLock = (bearer: Bearer, { lock, tokenId }: HeldLock): ShownLock => ({
  id: lock.id,
  path: lock.path,
  owner: lock.owner,
  origin: lock.origin,
  acquired_at: lock.acquired_at,
  expires_at: lock.expires_at,
  release: releaseWay(bearer, tokenId),
});
