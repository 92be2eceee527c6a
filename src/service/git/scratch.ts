import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** How long ago it was written; 0 where it is gone. */
export const ageOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

const prefix = 'work-';
const touchEveryMs = 5 * 60 * 1_000;

/** The folders of this process: none of them is abandoned, whatever the clock says. */
const inUse = new Set<string>();

/** Runs the work with a temporary folder inside `parent`, which is removed however the work ends. */
export async function inScratchFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
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

/** Folders in use are touched many times more often. */
export const abandonedAfterMs = 60 * 60 * 1_000;

/**
 * Removes what a killed service left behind. Another instance may be at work in here, so age decides. The file
 * system says what time it is: the clock of this machine may have been put forward.
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
