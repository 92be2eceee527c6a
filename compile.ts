import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Makes `build/` from `src/`: what is compiled, and what the dashboard hands to browsers as it is. */

const root = import.meta.dirname;

export interface CompileOptions {
  /** Begin with an empty folder, so that nothing of an earlier version is left. */
  readonly anew: boolean;
}

export function compile({ anew }: CompileOptions): void {
  if (anew) rmSync(join(root, 'build'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  const assets = 'service/dashboard/assets';
  cpSync(join(root, 'src', assets), join(root, 'build', assets), { recursive: true });
}

if (import.meta.main) compile({ anew: true });
