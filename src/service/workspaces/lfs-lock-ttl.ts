import { parseTtl, type Ttl } from '../../interface/ttl.ts';
import type { WorkspaceSettings } from './workspaces.ts';

export const defaultLfsLockTtl = '7d';

/** Ttl of locks taken with Git LFS, whose requests contain no ttl. */
export function lfsLockTtl({ desk_ttl }: Pick<WorkspaceSettings, 'desk_ttl'>): Ttl {
  for (const text of [desk_ttl, defaultLfsLockTtl]) {
    const ttl = parseTtl(text ?? '');
    if (ttl.ok) return ttl.value;
  }
  throw new Error(`${defaultLfsLockTtl} is not a valid ttl.`);
}
