import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { type CodeSplittingGroup, type Plugin, rolldown } from 'rolldown';
import { proveBundle } from '../test/bundle/prove-bundle.ts';
import { inAscii, licensesOf } from './compile.ts';

/** Rebuilds `dist/`: bundles and runs the code, and then replaces the folder. The same sources give the same bytes. */

const root = join(import.meta.dirname, '..');
const made = join(root, 'build/bundle');
const github = join(root, 'build/github');
const toolkit = join(root, 'node_modules/@actions/core/lib');
const stub = (name: string): string => JSON.stringify(join(root, 'scripts/stubs', name, 'index.js'));

/** Replaces the only occurrence of a text. Fails if another version of the toolkit has none or several. */
function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`The toolkit has changed: ${from}`);
  return text.replace(from, to);
}

const withStdout = (code: string): string => {
  const written = replaceAll(code, 'process.stdout.write(', 'writeOut(');
  return `import { writeOut } from ${stub('stdout')};\n${written}`;
};

function replaceAll(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`The toolkit has changed: ${from}`);
  return text.replaceAll(from, to);
}

/**
 * `npm run bench -- start` asks for these changes. The toolkit takes its delimiters from `scripts/stubs/crypto`, because
 * loading Node's crypto takes a third as long as Node itself. It writes to stdout without a stream, which takes as long.
 * It writes the summary without `fs.promises`, which loads a part of Node of its own. And nothing uses Node's assert.
 */
const edits: Readonly<Record<string, (code: string) => string>> = {
  [join(toolkit, 'command.js')]: withStdout,
  [join(toolkit, 'core.js')]: withStdout,
  [join(toolkit, 'file-command.js')]: (code) => replaceOnce(code, "from 'crypto';", `from ${stub('crypto')};`),
  [join(toolkit, 'summary.js')]: (code) =>
    replaceOnce(
      replaceOnce(
        code,
        "import { constants, promises } from 'fs';",
        "import * as fs from 'fs';\nconst { constants } = fs;",
      ),
      'const { access, appendFile, writeFile } = promises;',
      'const { accessSync: access, appendFileSync: appendFile, writeFileSync: writeFile } = fs;',
    ),
  [join(root, 'node_modules/tunnel/lib/tunnel.js')]: (code) => replaceOnce(code, "var assert = require('assert');", ''),
};

/** Loading a file of the toolkit does nothing. So what the action never calls is left out: child processes, a second HTTP client. */
const faster: Plugin = {
  name: 'faster toolkit',
  transform(code, id) {
    const edited = edits[id]?.(code) ?? code;
    if (!id.startsWith(toolkit)) return { code: edited };
    // The bundler would copy such a part of Node, member by member.
    const own = edited.replaceAll(
      /^import \* as (\w+) from '(fs|os|path)';$/gm,
      "const $1 = process.getBuiltinModule('$2');",
    );
    return { code: own, moduleSideEffects: false };
  },
};

/**
 * Operations of few lines are in the file that all others need, and the locks that most steps take are in one file with
 * all that they need: loading a file takes as long as compiling twenty kilobytes. What is imported on demand has its own.
 */
const groups: Readonly<Record<string, readonly CodeSplittingGroup[]>> = {
  'main.ts': [
    { name: 'client', test: /action[\\/](step[\\/]context|operations[\\/](list-named|register-hook))\./, priority: 2 },
    { name: 'locks', test: /action[\\/]operations[\\/]lock\./, priority: 1 },
  ],
  'post.ts': [{ name: 'release', test: /action[\\/]post-step[\\/]release\./, priority: 1 }],
};

/**
 * One module of `@actions/github` and all packages behind it, with their licenses. Only `changed-files` loads it, so its
 * start may take longer than that of code in one scope. A cache would let an earlier build have a say.
 */
function bundleGitHub(): void {
  const ncc = join(root, 'node_modules/@vercel/ncc/dist/ncc/cli.js');
  const entry = 'node_modules/@actions/github/lib/github.js';
  const options = ['--out', github, '--license', 'licenses.txt', '--no-cache', '--quiet'];
  execFileSync(process.execPath, [ncc, 'build', entry, ...options], { cwd: root, stdio: 'inherit' });
}

/** CommonJS: Node takes longer to load ES modules than to compile them. */
async function bundle(entry: string, folder: string): Promise<void> {
  const built = await rolldown({
    input: { index: join(root, 'src/action', entry) },
    platform: 'node',
    external: isBuiltin,
    resolve: { alias: { '@actions/github': join(github, 'index.js') } },
    treeshake: { moduleSideEffects: 'no-external' },
    plugins: [faster],
  });
  const { output } = await built.generate({
    format: 'cjs',
    strict: true,
    esModule: false,
    externalLiveBindings: false,
    entryFileNames: 'index.js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'index', tags: ['$initial'], priority: 3 }, ...(groups[entry] ?? [])] },
    minify: true,
  });
  await built.close();
  const chunks = output.filter((each) => each.type === 'chunk');
  const unused = groups[entry]?.find(({ name }) => !chunks.some(({ fileName }) => fileName === `${name}.js`));
  if (unused !== undefined) throw new Error(`No module is in the group ${unused.name} of ${entry}.`);
  await mkdir(folder, { recursive: true });
  for (const { fileName, code } of chunks) await writeFile(join(folder, fileName), inAscii(code));
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const ofGitHub = modules.some((id) => id.startsWith(github))
    ? await readFile(join(github, 'licenses.txt'), 'utf8')
    : '';
  await writeFile(join(folder, 'licenses.txt'), licensesOf(modules) + ofGitHub);
}

/** `uses: $/…` cannot name the root of a repository, so the reusable workflows use this copy of `action.yml`. */
async function writeInnerAction(folder: string): Promise<void> {
  const action = await readFile(join(root, 'action.yml'), 'utf8');
  const note = '# Written by `npm run build` from ../action.yml, for `uses: $/dist`.\n';
  await writeFile(join(folder, 'action.yml'), note + action.replaceAll(/^( {2}(?:main|post): )dist\//gm, '$1'));
}

await rm(made, { recursive: true, force: true });
await rm(github, { recursive: true, force: true });
bundleGitHub();
await bundle('main.ts', made);
await bundle('post.ts', join(made, 'post'));
await bundle('renew.ts', join(made, 'renew'));
// Without it, a checkout of this repository would say that they are ES modules.
await writeFile(join(made, 'package.json'), '{ "type": "commonjs" }\n');
await writeInnerAction(made);
await proveBundle(made);
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(made, join(root, 'dist'));
