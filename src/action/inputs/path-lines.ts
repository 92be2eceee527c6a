import { canonicalLockPath, type LockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Read, Reader } from './reader.ts';
import { lines, parseBoolean } from './values.ts';

/** A line of the input `path`. */
export type PathLine =
  | { readonly kind: 'path'; readonly path: LockPath }
  /** It has wildcards, so it is a pattern unless a file of the checkout has that very name. */
  | { readonly kind: 'pattern'; readonly text: string };

const looksLikePattern = (line: string): boolean => line.startsWith('!') || /[*?[\]{}]/.test(line);

function parsePathLine(line: string, glob: boolean): Parsed<PathLine> {
  if (glob && looksLikePattern(line)) return accepted({ kind: 'pattern', text: line });
  const path = canonicalLockPath(line);
  return path.ok ? accepted({ kind: 'path', path: path.value }) : refused(path.why);
}

export function readPathLines({ read, raw, complainOfLine }: Reader): Read<readonly PathLine[]> {
  const glob = read('glob', parseBoolean);
  const parsed = lines(raw.path).map((line) => {
    // Where it is not known whether lines can be patterns, only those that cannot are looked at.
    const path = parsePathLine(line, glob ?? true);
    if (!path.ok) complainOfLine('path', line, path.why);
    return path;
  });
  const right = parsed.flatMap((path) => (path.ok ? [path.value] : []));
  return glob === undefined || right.length < parsed.length ? undefined : right;
}
