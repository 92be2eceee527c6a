import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

export const maxWorkspaceIdLength = 64;

/** Both ends, and what may stand between them. */
export const workspaceIdPattern = new RegExp(`^[a-z0-9](?:[a-z0-9._-]{0,${maxWorkspaceIdLength - 2}}[a-z0-9])?$`);

/** It is a segment of addresses and the name of a folder, on file systems that ignore case too. */
export function parseWorkspaceId(text: string): Parsed<string> {
  return workspaceIdPattern.test(text)
    ? accepted(text)
    : refused(
        `A workspace id has 1 to ${maxWorkspaceIdLength} characters: lower-case letters, digits, dots, dashes and underscores, with a letter or digit at both ends.`,
      );
}
