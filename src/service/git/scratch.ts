import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Time since the last write, in ms; 0 if it does not exist. */
export const ageOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

const prefix = 'work-';
const touchEveryMs = 5 * 60 * 1_000;

/** Folders that this process uses. They are never abandoned, even if the clock jumps. */
const inUse = new Set<string>();

/** Runs the work with a temporary folder in `parent`, and removes the folder when the work ends or fails. */
export async function withScratchFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, prefix));
  inUse.add(folder);
  const touching = setInterval(() => void touch(folder), touchEveryMs);
  try {
    await removeAbandoned(parent, folder);
    return await work(folder);
  } finally {
    inUse.delete(folder);
    clearInterval(touching);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

export const abandonedAfterMs = 60 * 60 * 1_000;

/**
 * Removes folders that a killed service left behind. Their age decides, because other instances may be using some of
 * them. The current time is that of the file system, because the clock of this machine may be wrong.
 */
async function removeAbandoned(parent: string, fresh: string): Promise<void> {
  const { mtimeMs: now } = await stat(fresh);
  for (const entry of await readdir(parent)) {
    const folder = join(parent, entry);
    if (!entry.startsWith(prefix) || inUse.has(folder)) continue;
    const isOld = (path: string): Promise<boolean> =>
      stat(path).then(
        ({ mtimeMs }) => now - mtimeMs > abandonedAfterMs,
        () => true,
      );
    if (!(await isOld(folder))) continue;
    const files = await readdir(folder, { recursive: true }).catch(() => []);
    const areOld = await Promise.all(files.map((file) => isOld(join(folder, file))));
    if (areOld.every((each) => each)) await rm(folder, { recursive: true, force: true });
  }
}

async function touch(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}
