import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** It is a segment of addresses and the name of a folder, on file systems that ignore case too. */
export function parseWorkspaceId(text: string): Parsed<string> {
  return /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/.test(text)
    ? accepted(text)
    : refused(
        'A workspace id has 1 to 64 characters: lower-case letters, digits, dots, dashes and underscores, with a letter or digit at both ends.',
      );
}
