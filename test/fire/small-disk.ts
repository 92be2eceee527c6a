import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A separate file system, visible only to selected processes. It is removed with the test process. */
export interface SmallDisk {
  /** The mount point, for processes that run `through` it. */
  readonly folder: string;
  /** A command prefix that lets a program see the disk. */
  readonly through: readonly string[];
  /** The path of a file on the disk, for this process. */
  path(...parts: readonly string[]): string;
  /** Leaves room for at most this number of bytes, or for none. */
  fill(room?: number): void;
  makeRoom(): void;
  /** Runs a program that can see the disk. */
  run(program: string, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

export type Mounted =
  | { readonly ok: true; readonly disk: SmallDisk }
  /** The reason is a sentence. */
  | { readonly ok: false; readonly reason: string };

const rootHere = process.getuid?.() === 0;

/** An unprivileged user can mount in a user namespace if the system allows it. */
const fresh = rootHere ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
const entered = rootHere ? ['--mount'] : ['--user', '--preserve-credentials', '--mount'];

/** Runs mount commands: they get the folder in $1, and may create a file next to it. */
export async function mountSmallDisk(script: string): Promise<Mounted> {
  if (process.platform !== 'linux')
    return { ok: false, reason: 'Only Linux lets a test have a file system of its own.' };
  const parent = await mkdtemp(join(tmpdir(), 'workspace-small-disk-'));
  const folder = join(parent, 'disk');
  await mkdir(folder);
  // It holds the namespace until its input ends, at the latest with this process.
  const keeper = spawn('unshare', [...fresh, 'sh', '-ec', `${script}\necho mounted; cat`, 'sh', folder], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const remove = async (): Promise<void> => {
    if (keeper.exitCode === null) {
      keeper.stdin.end();
      await once(keeper, 'exit');
    }
    await rm(parent, { recursive: true, force: true });
  };
  const said = text(keeper.stderr);
  const failed = once(keeper, 'close').then(async () => ({ ok: false as const, reason: await said }));
  const missing = once(keeper, 'error').then(([error]) => ({ ok: false as const, reason: String(error) }));
  const mounted = once(keeper.stdout, 'data').then(() => ({ ok: true as const }));
  const outcome = await Promise.race([mounted, failed, missing]);
  if (!outcome.ok) {
    await rm(parent, { recursive: true, force: true });
    return { ok: false, reason: `No file system can be mounted here: ${outcome.reason.trim()}` };
  }

  const through = ['nsenter', '--target', String(keeper.pid), ...entered, '--'];
  const path = (...parts: readonly string[]): string => join(`/proc/${keeper.pid}/root`, folder, ...parts);
  const ballast = path('ballast');
  return {
    ok: true,
    disk: {
      folder,
      through,
      path,
      makeRoom: () => rmSync(ballast, { force: true }),
      fill(room = 0) {
        const reserve = path('reserve');
        if (room > 0) writeAll(reserve, room);
        writeAll(ballast);
        rmSync(reserve, { force: true });
      },
      run: async (program, ...args) => (await run('nsenter', [...through.slice(1), program, ...args])).stdout,
      remove,
    },
  };
}

/** Writes the requested size, or until the disk is full. */
function writeAll(file: string, size = Number.POSITIVE_INFINITY): void {
  const fd = openSync(file, 'a');
  let rest = size;
  try {
    for (let piece = 64 * 1_024; piece >= 1; ) {
      try {
        rest -= writeSync(fd, Buffer.alloc(Math.min(piece, rest), 'x'));
        if (rest <= 0) return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        piece = Math.floor(piece / 16);
      }
    }
  } finally {
    closeSync(fd);
  }
}

export const memoryDisk = (megabytes: number): Promise<Mounted> =>
  mountSmallDisk(`mount -t tmpfs -o size=${megabytes}m,mode=700 tmpfs "$1"`);
