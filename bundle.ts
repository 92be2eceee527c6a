import { execFileSync } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { proveBundle } from './test/support/prove-bundle.ts';

/** Makes `dist/` anew: compile, bundle, run, and only then put it in place. The same sources give the same bytes. */

const root = import.meta.dirname;
const compiled = 'build/bundle/compiled';
const made = 'build/bundle/dist';

function run(program: string, ...args: readonly string[]): void {
  execFileSync(process.execPath, [join(root, 'node_modules', program), ...args], { cwd: root, stdio: 'inherit' });
}

/** A cache would let what was built before have a say. */
const bundle = (entry: string, out: string): void =>
  run(
    '@vercel/ncc/dist/ncc/cli.js',
    'build',
    entry,
    '--out',
    out,
    '--license',
    'licenses.txt',
    '--no-cache',
    '--quiet',
  );

await rm(join(root, 'build/bundle'), { recursive: true, force: true });
run('typescript/bin/tsc', '--project', 'tsconfig.build.json', '--outDir', compiled);
bundle(`${compiled}/action/main.js`, made);
bundle(`${compiled}/action/post.js`, `${made}/post`);
// The one above it says the same: the files are ECMAScript modules.
await rm(join(root, made, 'post/package.json'));

await proveBundle(join(root, made));
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(join(root, made), join(root, 'dist'));
