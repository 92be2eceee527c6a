import { parseTtl, type Ttl } from '../../interface/ttl.ts';
import type { DeskSettings } from './workspaces.ts';

export const usualDeskTtl = '7d';

/** How long a lock lasts that somebody takes at a desk: Git LFS does not ask for a time. */
export function deskTtl({ desk_ttl }: Pick<DeskSettings, 'desk_ttl'>): Ttl {
  for (const text of [desk_ttl, usualDeskTtl]) {
    const ttl = parseTtl(text ?? '');
    if (ttl.ok) return ttl.value;
  }
  throw new Error(`${usualDeskTtl} is no ttl.`);
}
