import { canonicalLockPath, type LockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed } from '../../interface/parsed.ts';

/** A line of the input `path`, not yet compared with the checkout. A line that names an existing file means it. */
export type PathLine =
  /** Used verbatim, because of `glob: false`. */
  | { readonly kind: 'literal'; readonly path: LockPath }
  | { readonly kind: 'path'; readonly path: LockPath; readonly text: string }
  /** The line has a trailing slash. */
  | { readonly kind: 'folder'; readonly path: LockPath; readonly text: string }
  | { readonly kind: 'pattern'; readonly text: string }
  /** The line cannot be meant as a path. */
  | { readonly kind: 'mistake'; readonly text: string };

/**
 * A list marker, a comment, a shell variable, a home folder, or quotes around the line. Linear in its length: each
 * alternative is anchored, and `.*` is tried only once.
 */
const mistake = /^-\s|^#|^\$|^~[/\\]|^(["']).*\1,?$/s;

export function parsePathLine(line: string, glob: boolean): Parsed<PathLine> {
  if (!glob) {
    const path = canonicalLockPath(line);
    return path.ok ? accepted({ kind: 'literal', path: path.value }) : path;
  }
  if (mistake.test(line)) return accepted({ kind: 'mistake', text: line });
  if (looksLikePattern(line)) return accepted({ kind: 'pattern', text: line });
  const withoutSlash = line.replace(/(?<![/\\])[/\\]+$/, '');
  const path = canonicalLockPath(withoutSlash);
  if (!path.ok) {
    // The reason for the complete line: "/" without its slash would be an empty path.
    const complete = canonicalLockPath(line);
    return complete.ok ? path : complete;
  }
  return accepted({ kind: withoutSlash === line ? 'path' : 'folder', path: path.value, text: line });
}

const looksLikePattern = (line: string): boolean => line.startsWith('!') || /[*?[\]{}]/.test(line);
