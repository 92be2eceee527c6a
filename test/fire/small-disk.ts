import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished, type TestContext } from 'vitest';
import { leaveOut } from '../support/left-out.ts';

const rootHere = process.getuid?.() === 0;

/** An unprivileged user can mount in a user namespace if the system allows it. */
const fresh = rootHere ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
const entered = rootHere ? ['--mount'] : ['--user', '--preserve-credentials', '--mount'];

const missing = 'This machine lets no test have a file system of its own.';

export type SmallDisk = Awaited<ReturnType<typeof diskFor>>;

/**
 * A separate file system in memory, visible only to selected processes, and removed at the end of the test. The test is
 * skipped if none can be mounted.
 */
export async function diskFor(context: TestContext, megabytes: number) {
  if (process.platform !== 'linux') return leaveOut(context, missing);
  const parent = await mkdtemp(join(tmpdir(), 'workspace-small-disk-'));
  const folder = join(parent, 'disk');
  await mkdir(folder);
  // It holds the namespace until its input ends, at the latest with this process.
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=700 tmpfs "$1"; echo mounted; cat`;
  const keeper = spawn('unshare', [...fresh, 'sh', '-ec', script, 'sh', folder]);
  onTestFinished(async () => {
    if (keeper.pid !== undefined && keeper.exitCode === null) {
      keeper.stdin.end();
      await once(keeper, 'exit');
    }
    await rm(parent, { recursive: true, force: true });
  });
  const said = text(keeper.stderr);
  const reason = await Promise.race([
    once(keeper.stdout, 'data').then(() => undefined),
    once(keeper, 'close').then(() => said),
    once(keeper, 'error').then(String),
  ]);
  if (reason !== undefined) return leaveOut(context, missing, reason);

  const through = ['nsenter', '--target', String(keeper.pid), ...entered, '--'];
  const path = (...parts: readonly string[]): string => join(`/proc/${keeper.pid}/root`, folder, ...parts);
  const ballast = path('ballast');
  return {
    /** The mount point, for processes that run `through` it. */
    folder,
    /** A command prefix that lets a program see the disk. */
    through,
    /** The path of a file on the disk, for this process. */
    path,
    makeRoom: () => rmSync(ballast, { force: true }),
    /** Leaves room for at most this number of bytes, or for none. */
    fill(room = 0): void {
      const reserve = path('reserve');
      if (room > 0) writeAll(reserve, room);
      writeAll(ballast);
      rmSync(reserve, { force: true });
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
