import { readFileSync } from 'node:fs';

/** Values used when running from the sources. The built command replaces this module by one of constants. */

// Not validated, because the file is part of the repository.
const description = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const packageVersion = description.version;

/** The commit; undefined if unknown. */
export const revision: string | undefined = undefined;

export const versionText = `${packageVersion} (revision ${revision ?? 'unknown'})`;
