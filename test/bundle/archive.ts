import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Archive, archiveOf } from '../../bench/size.ts';
import { root } from './committed.ts';

/**
 * What it would be if the files were committed as they lie here: those that git knows, and all of `dist/`. They are
 * written to a store of their own, so that nothing is left behind in the repository.
 */
export function archiveOfWorkingTree(): Archive {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  const git = (environment: NodeJS.ProcessEnv, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env: environment, encoding: 'utf8' }).trim();
  try {
    const objects = git(process.env, 'rev-parse', '--path-format=absolute', '--git-path', 'objects');
    const environment = {
      ...process.env,
      GIT_INDEX_FILE: join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    git(environment, 'read-tree', 'HEAD');
    git(environment, 'add', '--update');
    git(environment, 'add', '--all', 'dist');
    return archiveOf(git(environment, 'write-tree'), environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
