import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createRepository, withScratchFolder } from './bare-repository.ts';
import { type GitCommand, localLimits, withSilenceLimit } from './git-command.ts';
import { eachLine } from './git-output.ts';
import type { Remote } from './remote.ts';
import type { Limits } from './run-git.ts';

export interface LfsTransfer {
  /** Existing folder of complete objects, in the layout of Git LFS: `ab/cd/abcd…`. Several transfers may share it. */
  readonly objectsFolder: string;
  readonly objects: readonly { readonly oid: string; readonly size: number }[];
  /** The LFS endpoint: an http(s) URL without credentials, or the address of an ssh remote. */
  readonly url: string;
  /** Its credentials are sent only to its own origin. */
  readonly remote: Remote;
  readonly limits: Limits;
  /** Ends git-lfs if it reports nothing for this long. It reports all received data. */
  readonly silenceMs: number;
  readonly onProgress: (received: { readonly objects: number; readonly bytes: number }) => void;
  readonly onErrorLine: (line: string) => void;
}

/**
 * Fetches objects with git-lfs, which verifies hashes, and makes only complete objects visible. It uses a temporary
 * repository with nothing but pointers, so that no file of the remote, such as `.lfsconfig`, configures it.
 */
export async function fetchLfsObjects(git: GitCommand, scratch: string, transfer: LfsTransfer): Promise<void> {
  const { objectsFolder, objects, url, remote, limits, silenceMs, onProgress, onErrorLine } = transfer;
  await withScratchFolder(scratch, async (folder) => {
    const repository = join(folder, 'pointers.git');
    await createRepository(repository);
    await git(['fast-import', '--quiet', '--done'], {
      purpose: 'write the pointers of LFS objects',
      limits: localLimits,
      repository,
      settings: { 'core.fsync': 'none' },
      input: Buffer.from(commitOf(objects)),
    });
    // Unfinished downloads and logs stay in the temporary folder. Complete objects go through the link.
    await symlink(objectsFolder, join(folder, 'objects'), 'junction');
    const { settings, variables } = lfsAccess(url, remote);
    const purpose = `fetch the LFS objects of ${url}`;
    await withSilenceLimit({ purpose, limits, silenceMs }, (limits, heard) =>
      git(['fetch', 'origin', pointersRef], {
        program: 'git-lfs',
        purpose,
        limits,
        repository,
        remote,
        onErrorLine,
        settings: {
          'remote.origin.url': url,
          'lfs.url': url,
          'lfs.storage': folder,
          'lfs.basictransfersonly': 'true',
          'lfs.transfer.maxretries': '5',
          'lfs.ssh.automultiplex': 'false',
          ...settings,
        },
        variables: { GIT_LFS_FORCE_PROGRESS: '1', ...variables },
        onOutput: eachLine((line) => {
          const received = readLfsProgress(line);
          if (received === undefined) return;
          heard.refresh();
          onProgress(received);
        }),
      }),
    );
  });
}

const pointersRef = 'refs/heads/pointers';

/** In the format of git-fast-import(1). */
const commitOf = (objects: LfsTransfer['objects']): string =>
  [
    `commit ${pointersRef}\ncommitter service <> 0 +0000\ndata 0\n`,
    ...objects.map(({ oid, size }) => {
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
      return `M 100644 inline ${oid}-${size}\ndata ${pointer.length}\n${pointer}\n`;
    }),
    'done\n',
  ].join('');

/**
 * Passes the credentials through a helper, because git-lfs would combine a header in `http.extraHeader` with the one
 * that a store returns for an object. They are in variables, because git-lfs logs its settings.
 */
function lfsAccess(url: string, { address, credentials }: Remote) {
  if (credentials === undefined) return { settings: {}, variables: {} };
  return {
    settings: {
      [`credential.${new URL(address).origin}.helper`]:
        '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$REMOTE_USERNAME" "$REMOTE_PASSWORD"; }; f',
      ...(url.startsWith('https:') && { [`lfs.${url}.access`]: 'basic' }),
    },
    variables: { REMOTE_USERNAME: credentials.username, REMOTE_PASSWORD: credentials.password },
  };
}

const unitBytes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** git-lfs rounds the bytes. */
export function readLfsProgress(line: string): { readonly objects: number; readonly bytes: number } | undefined {
  const [, objects, amount, unit] =
    /^Downloading LFS objects: +\d+% \((\d+)\/\d+\), ([\d.]+) ([KMGT]?B) \|/.exec(line) ?? [];
  if (objects === undefined) return undefined;
  // The pattern allows only these units.
  return { objects: Number(objects), bytes: Math.round(Number(amount) * unitBytes[unit as keyof typeof unitBytes]) };
}

/** Larger files are not pointers. */
const pointersBelowBytes = 1_024;

/**
 * Reads the files of a commit that may be pointers, in batches, because there can be any number. A file with several
 * paths may be read more than once. `path` is one of the paths of the content, as quoted by git.
 */
export async function readSmallBlobs(
  git: GitCommand,
  commit: string,
  limits: Limits,
  onBlob: (path: string, content: Buffer) => void,
): Promise<void> {
  let paths = new Map<string, string>();
  const listed = eachLine((line) => {
    const [, size = '', id = '', path = ''] = /^blob (\d+) (\S+) (.*)$/.exec(line) ?? [];
    if (id !== '' && Number(size) < pointersBelowBytes) paths.set(id, path);
  });
  async function readListed(): Promise<void> {
    const batch = paths;
    paths = new Map();
    if (batch.size === 0) return;
    await git(['cat-file', '--batch', '--buffer'], {
      limits,
      purpose: `read the small files of ${commit}`,
      input: Buffer.from(`${[...batch.keys()].join('\n')}\n`),
      onOutput: readBatch((id, content) => onBlob(batch.get(id) ?? '', content)),
    });
  }
  const form = '--format=%(objecttype) %(objectsize) %(objectname) %(path)';
  await git(['-c', 'core.quotePath=false', 'ls-tree', '-r', '--full-tree', form, '--end-of-options', commit], {
    limits,
    purpose: `list the files of ${commit}`,
    async onOutput(chunk) {
      await listed(chunk);
      if (paths.size >= maxBlobsAtOnce) await readListed();
    },
  });
  await readListed();
}

const maxBlobsAtOnce = 10_000;

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
      // A missing object is a single line without content.
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
