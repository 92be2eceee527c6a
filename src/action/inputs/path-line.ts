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
  /** The line is not meant as a path. `advice` says what to write instead. */
  | { readonly kind: 'mistake'; readonly text: string; readonly advice: string };

/** Linear in the length of the line: each pattern is anchored, and `.*` is tried only once. */
const mistakes: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/^-\s/, 'Remove the leading "- ": the input has one path per line and is not a YAML list.'],
  [/^(["']).*\1,?$/s, 'Remove the quotes: they would be part of the path.'],
  [/^#/, 'Remove the line: the input cannot have comments.'],
  [
    /^\$(?:GITHUB_WORKSPACE|\{GITHUB_WORKSPACE\})[/\\]/,
    'Remove $GITHUB_WORKSPACE and the slash: a path is relative to the workspace.',
  ],
  [/^\$/, 'Write the path itself, or use an expression of the workflow: shell variables are not expanded here.'],
  [/^~[/\\]/, 'Remove the leading "~/": a path is relative to the workspace.'],
];

export function parsePathLine(line: string, glob: boolean): Parsed<PathLine> {
  if (!glob) {
    const path = canonicalLockPath(line);
    return path.ok ? accepted({ kind: 'literal', path: path.value }) : path;
  }
  const [, advice] = mistakes.find(([pattern]) => pattern.test(line)) ?? [];
  if (advice !== undefined) return accepted({ kind: 'mistake', text: line, advice });
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
