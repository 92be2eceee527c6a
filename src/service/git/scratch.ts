import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Longer than any work goes without writing something. */
export const abandonedAfterMs = 60 * 60 * 1_000;

const prefix = 'work-';

/** How long ago it was written; 0 where it is gone. */
export const ageOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

/** Removes what a killed service left behind. Another instance may be at work in here, so age decides. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const folder = join(parent, entry);
    if (!entry.startsWith(prefix) || (await ageOf(folder)) < abandonedAfterMs) continue;
    const files = await readdir(folder, { recursive: true }).catch(() => []);
    const ages = await Promise.all(files.map((file) => ageOf(join(folder, file))));
    if (ages.every((age) => age > abandonedAfterMs)) await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the work with a temporary folder inside `parent`, which is removed however the work ends. */
export async function inScratchFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  await removeAbandoned(parent);
  const folder = await mkdtemp(join(parent, prefix));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
