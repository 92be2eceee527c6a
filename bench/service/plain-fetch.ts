import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How long `git fetch` takes of a branch into a repository that has nothing yet; to make that does not count. */
export async function plainFetch(
  folder: string,
  remote: string,
  signal: AbortSignal,
): Promise<{ readonly ms: number; readonly repository: string }> {
  const repository = join(folder, 'plain.git');
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull };
  await run('git', ['init', '--quiet', '--bare', repository], { env, signal });
  const startedAt = performance.now();
  await run('git', ['-C', repository, 'fetch', '--quiet', remote, '+refs/heads/main:refs/heads/main'], { env, signal });
  return { ms: performance.now() - startedAt, repository };
}
