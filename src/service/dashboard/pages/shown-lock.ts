import { grants } from '../../../interface/scopes.ts';
import type { HeldLock } from '../../locks/held-locks.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import type { ShownLock } from '../assets/lock-list.js';

export type ReleaseWay = ShownLock['release'];

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
