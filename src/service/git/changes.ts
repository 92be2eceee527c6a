import type { GitCommand } from './git-command.ts';
import { eachLine, eachToken } from './git-output.ts';
import type { Limits } from './run-git.ts';

interface Commit {
  readonly id: string;
  readonly author: string;
  readonly at: number;
}

/** A file that a commit changed. For a merge, only files that differ from all parents. */
export interface FileChange {
  readonly path: string;
  /** Null if the commit deleted the file. */
  readonly blob: string | null;
  readonly commit: Commit;
}

interface ChangeQuery {
  /** Only commits that are contained in this one. */
  readonly head: string;
  /** Only commits that are not contained in this one. */
  readonly except: string;
  readonly limits: Limits;
}

const headerMark = '\u0001';

/** The last time with a year of four digits. A commit can claim any time. */
const maxTime = Date.parse('9999-12-31T23:59:59.999Z');

/** Lists file changes, newest first, including those that a merge dropped. A rename is a deletion and an addition. */
export async function listChanges(
  git: GitCommand,
  { head, except, limits }: ChangeQuery,
  onChange: (change: FileChange) => void,
): Promise<void> {
  let commit: Commit = { id: '', author: '', at: 0 };
  const onHeader = (token: string): void => {
    if (!token.startsWith(headerMark)) return;
    const [, id = '', seconds = '', author = ''] = token.split(headerMark);
    commit = { id, author, at: Math.min(Number(seconds) * 1_000, maxTime) };
  };
  const format = `--format=${['', '%H', '%ct', '%an'].join('%x01')}`;
  await git(['log', '-z', '-c', '--full-history', ...rawFiles, format, '--stdin'], {
    purpose: `list the changes up to ${head}`,
    limits,
    input: Buffer.from(`${head}\n^${except}\n`),
    onOutput: eachToken(eachRawFile((path, blob) => onChange({ path, blob, commit }), onHeader)),
  });
}

/** The types of the objects with these names, such as `COMMIT:PATH`; undefined for missing objects. */
export async function lookUp(
  git: GitCommand,
  names: readonly string[],
  limits: Limits,
): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  await git(['cat-file', '--buffer', '--batch-check=%(objecttype)'], {
    purpose: 'look for objects in the mirror',
    limits,
    input: Buffer.from(names.map((name) => `${name}\n`).join('')),
    // One line for each name.
    onOutput: eachLine((line) => found.push(/^(?:blob|tree|commit|tag)$/.exec(line)?.[0])),
  });
  return found;
}

export async function listDifferences(
  git: GitCommand,
  { from, to, limits }: { readonly from: string; readonly to: string; readonly limits: Limits },
  onPath: (path: string) => void,
): Promise<void> {
  await git(['diff-tree', '-r', '-z', ...rawFiles, '--end-of-options', from, to], {
    purpose: `compare ${from} with ${to}`,
    limits,
    onOutput: eachToken(eachRawFile(onPath)),
  });
}

const rawFiles = ['--raw', '--no-renames', '--no-abbrev'];

/** Parses `--raw -z`: git-diff(1), RAW OUTPUT FORMAT. Paths are normalized like those of locks. */
function eachRawFile(
  onFile: (path: string, blob: string | null) => void,
  onOther: (token: string) => void = () => undefined,
): (token: string) => void {
  let blob: string | null | undefined;
  return (token) => {
    if (blob !== undefined) {
      onFile(token.normalize('NFC'), blob);
      blob = undefined;
      return;
    }
    const [, id, status = ''] = /^\n?:.* ([0-9a-f]+) ([A-Z]+)$/.exec(token) ?? [];
    if (id === undefined) onOther(token);
    else blob = status.startsWith('D') ? null : id;
  };
}
