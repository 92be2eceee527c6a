import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { LfsSettings } from './workspaces.ts';

/** Which LFS objects a sync fetches: of the files that the branch has, of those that it ever had too, or none. */
export const lfsModes = ['head', 'history', 'none'] as const;

export type LfsMode = (typeof lfsModes)[number];

export const defaultLfsMode: LfsMode = 'head';

/** A mode that a later version of the service has stored, and this one does not know, is as if there were none. */
export const lfsMode = ({ lfs_mode }: Pick<LfsSettings, 'lfs_mode'>): LfsMode =>
  lfsModes.find((each) => each === lfs_mode) ?? defaultLfsMode;

export function parseLfsMode(text: string): Parsed<LfsMode> {
  const mode = lfsModes.find((each) => each === text);
  return mode === undefined ? refused(`It must be one of ${lfsModes.join(', ')}.`) : accepted(mode);
}
