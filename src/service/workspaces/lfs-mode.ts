import { oneOf } from '../../interface/one-of.ts';
import type { WorkspaceSettings } from './workspaces.ts';

/** LFS objects that a sync fetches: those of the current files of the branch, also those of earlier files, or none. */
const lfsModes = ['head', 'history', 'none'] as const;

export type LfsMode = (typeof lfsModes)[number];

export const defaultLfsMode: LfsMode = 'head';

/** An unknown mode, which a later version of the service has stored, counts as unset. */
export const lfsMode = ({ lfs_mode }: Pick<WorkspaceSettings, 'lfs_mode'>): LfsMode =>
  lfsModes.find((each) => each === lfs_mode) ?? defaultLfsMode;

export const parseLfsMode = oneOf(lfsModes);
