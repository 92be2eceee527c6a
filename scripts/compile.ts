import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Makes `build/` from `src/`: what is compiled, and what the dashboard hands to browsers as it is. */

const root = join(import.meta.dirname, '..');

export interface CompileOptions {
  /** Begin with an empty folder, so that nothing of an earlier version is left. */
  readonly anew: boolean;
  /** The commit of the sources where git cannot name it, as in the build of an image; `unknown` if nobody knows it. */
  readonly revision?: string | undefined;
}

export function compile({ anew, revision = checkedOut(root) }: CompileOptions): void {
  const commit = shortened(revision);
  if (anew) rmSync(join(root, 'build'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // `npm run check` checks the types.
  execFileSync(process.execPath, [tsc, '--project', 'scripts/tsconfig.build.json', '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });
  const assets = 'service/dashboard/assets';
  cpSync(join(root, 'src', assets), join(root, 'build', assets), { recursive: true });
  const file = join(root, 'build/service/revision');
  if (commit === undefined) rmSync(file, { force: true });
  else writeFileSync(file, commit);
}

/** The commit of a checkout. Not that of a repository further up, in which an archive may have been unpacked. */
export function checkedOut(folder: string): string {
  if (!existsSync(join(folder, '.git'))) return 'unknown';
  const describe = ['describe', '--always', '--exclude=*', '--abbrev=40', '--dirty'];
  try {
    const place = ['--git-dir=.git', '--work-tree=.'];
    return execFileSync('git', [...place, ...describe], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

function shortened(revision: string): string | undefined {
  if (revision === 'unknown') return undefined;
  const [, commit, dirty = ''] = /^([0-9a-f]{12})[0-9a-f]*(-dirty)?$/.exec(revision) ?? [];
  if (commit === undefined)
    throw new Error(`--revision is ${JSON.stringify(revision)}. It must be the id of a commit.`);
  return `${commit}${dirty}`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { revision: { type: 'string' } } });
  compile({ anew: true, revision: values.revision });
}
