import { packageVersion, revision } from './constants.ts';

export { packageVersion, revision } from './constants.ts';

export const versionText = `${packageVersion} (revision ${revision ?? 'unknown'})`;
