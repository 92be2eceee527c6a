import { readFileSync } from 'node:fs';

/** What runs from the sources. The built command has a module of constants in place of this one. */

// Not validated: the file is part of the repository.
const description = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const packageVersion = description.version;

/** The commit; undefined if nobody knew it. */
export const revision: string | undefined = undefined;

export const versionText = `${packageVersion} (revision ${revision ?? 'unknown'})`;
