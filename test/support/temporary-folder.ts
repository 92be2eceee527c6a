import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

function folderUntil(end: (remove: () => Promise<void>) => void): string {
  // A process sees the real path of its working directory.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-test-')));
  end(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A folder that is removed when the test has finished. */
export const temporaryFolder = (): string => folderUntil(onTestFinished);

/** A folder that is removed when all tests of the file have finished. */
export const folderOfTests = (): string => folderUntil(afterAll);
