import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

export const maxWorkspaceIdLength = 64;

/** The first and last characters are more restricted than those in between. */
export const workspaceIdPattern = new RegExp(`^[a-z0-9](?:[a-z0-9._-]{0,${maxWorkspaceIdLength - 2}}[a-z0-9])?$`);

/** An id is a segment of URLs and the name of a folder, even on file systems that ignore case. */
export const parseWorkspaceId = parserOfId('workspace id');

/** The name of a pool is a segment of URLs, too. */
export const parsePoolName = parserOfId('pool name');

function parserOfId(kind: string): (text: string) => Parsed<string> {
  return (text) =>
    workspaceIdPattern.test(text)
      ? accepted(text)
      : refused(
          `A ${kind} has 1 to ${maxWorkspaceIdLength} characters: lower-case letters, digits, dots, dashes and underscores, with a letter or digit at both ends.`,
        );
}
