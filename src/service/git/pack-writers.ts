import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mirror } from './bare-repository.ts';
import { abandonedAfterMs, ageOf } from './scratch.ts';

/**
 * Runs work that writes packs into a mirror, several at a time. A fetch or maintenance that fails, such as on a full
 * disk, leaves its unfinished pack there: it is removed when no other work of this process writes into the mirror.
 */
export function createPackWriters() {
  const writers = new Map<string, { running: number; hasFailed: boolean }>();
  return async <T>(mirror: Mirror, work: () => Promise<T>): Promise<T> => {
    const { repository } = mirror;
    const state = writers.get(repository) ?? { running: 0, hasFailed: false };
    writers.set(repository, state);
    state.running += 1;
    try {
      await removeFiles(unfinishedPacks(mirror), abandonedAfterMs);
      return await work();
    } catch (error) {
      state.hasFailed = true;
      throw error;
    } finally {
      state.running -= 1;
      if (state.running === 0) {
        writers.delete(repository);
        // Listed before any other work can start.
        if (state.hasFailed) await removeFiles(unfinishedPacks(mirror), 0);
      }
    }
  };
}

/** Temporary packs of git, which it renames when they are complete, and marks of packs of a fetch that has not ended. */
function unfinishedPacks({ repository }: Mirror): readonly string[] {
  const packs = join(repository, 'objects', 'pack');
  try {
    return readdirSync(packs)
      .filter((file) => /^(?:\.tmp-|tmp_)|\.keep$/.test(file))
      .map((file) => join(packs, file));
  } catch {
    return [];
  }
}

async function removeFiles(paths: readonly string[], olderThanMs: number): Promise<void> {
  for (const path of paths) if ((await ageOf(path)) >= olderThanMs) await rm(path, { force: true });
}
