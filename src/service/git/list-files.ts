import type { GitCommand } from './git-command.ts';
import { eachLine } from './git-output.ts';
import type { Limits } from './run-git.ts';

export interface SmallBlobs {
  readonly commit: string;
  /** Exclusive upper limit of their size. */
  readonly belowBytes: number;
}

export interface Blob {
  /** Path of one of the files with this content, as quoted by git. */
  readonly path: string;
  readonly content: Buffer;
}

export async function readSmallBlobs(
  git: GitCommand,
  wanted: SmallBlobs,
  limits: Limits,
  onBlob: (blob: Blob) => void,
): Promise<void> {
  const paths = await listSmallBlobs(git, wanted, limits);
  if (paths.size === 0) return;
  await git(['cat-file', '--batch', '--buffer'], {
    limits,
    purpose: `read the small files of ${wanted.commit}`,
    input: Buffer.from(`${[...paths.keys()].join('\n')}\n`),
    onOutput: readBatch((id, content) => onBlob({ path: paths.get(id) ?? '', content })),
  });
}

/** Parses the output of `git cat-file --batch`: git-cat-file(1), BATCH OUTPUT. */
function readBatch(onObject: (id: string, content: Buffer) => void): (bytes: Buffer) => Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  return async (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (;;) {
      const lineEnd = rest.indexOf('\n');
      if (lineEnd < 0) return;
      const [, id = '', size = '0'] = /^(\S+) blob (\d+)$/.exec(rest.toString('latin1', 0, lineEnd)) ?? [];
      const [from, to] = [lineEnd + 1, lineEnd + 1 + Number(size)];
      // A missing object has a single line without content.
      if (id === '') {
        rest = rest.subarray(from);
        continue;
      }
      if (rest.length <= to) return;
      onObject(id, rest.subarray(from, to));
      rest = rest.subarray(to + 1);
    }
  };
}

async function listSmallBlobs(
  git: GitCommand,
  { commit, belowBytes }: SmallBlobs,
  limits: Limits,
): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  const form = '--format=%(objecttype) %(objectsize) %(objectname) %(path)';
  await git(['-c', 'core.quotePath=false', 'ls-tree', '-r', '--full-tree', form, '--end-of-options', commit], {
    limits,
    purpose: `list the files of ${commit}`,
    onOutput: eachLine((line) => {
      const [, size = '', id = '', path = ''] = /^blob (\d+) (\S+) (.*)$/.exec(line) ?? [];
      if (id !== '' && Number(size) < belowBytes) paths.set(id, path);
    }),
  });
  return paths;
}
