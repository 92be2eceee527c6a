import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Longer than any work goes without writing something. */
const abandonedAfter = 60 * 60 * 1_000;

const prefix = 'work-';

async function lastWrite(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const times = await Promise.all(
    [folder, ...entries.map((entry) => join(folder, entry))].map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

/** Removes what a killed service left behind. Another instance may be at work in here, so age decides. */
async function removeAbandoned(parent: string): Promise<void> {
  const longAgo = Date.now() - abandonedAfter;
  for (const entry of await readdir(parent)) {
    if (!entry.startsWith(prefix)) continue;
    const folder = join(parent, entry);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < longAgo && (await lastWrite(folder)) < longAgo) await rm(folder, { recursive: true, force: true });
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
