import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { atMost, type Benchmark, type Figure, figure } from './benchmark.ts';

/** Maximum sizes of the files that are downloaded and read to start the action. A kilobyte is 1,000 bytes. */
export const budgets = {
  /** `dist/index.js`, which is read before the inputs have been validated. */
  entryBytes: 60_000,
  /** The gzipped archive of a tag. */
  archiveBytes: 200_000,
} as const;

const root = join(import.meta.dirname, '..');

/** The archive of a commit or tree that a runner downloads, without the files that `.gitattributes` excludes. */
export function archiveOf(tree: string, environment: NodeJS.ProcessEnv = process.env) {
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
      cwd: root,
      env: environment,
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const tar = git('archive', '--format=tar', tree);
  const names = execFileSync('tar', ['-t'], { input: tar, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return {
    files: names.split('\n').filter((name) => name !== '' && !name.endsWith('/')),
    gzippedBytes: gzipSync(tar).length,
  };
}

const kilobytes = (name: string, bytes: number, maxBytes: number): Figure =>
  figure(name, 'KB', bytes / 1_000, { limit: atMost(maxBytes / 1_000, 'design §6') });

export const size: Benchmark = {
  name: 'size',
  what: 'Size of the files that a runner downloads and reads for the action.',
  isExact: true,
  measure: async () => [
    kilobytes('entry chunk: dist/index.js', statSync(join(root, 'dist/index.js')).size, budgets.entryBytes),
    kilobytes('download: git archive HEAD | gzip', archiveOf('HEAD').gzippedBytes, budgets.archiveBytes),
  ],
};
