import { execFileSync } from 'node:child_process';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { minifySync } from 'rolldown/utils';
import { proveBundle } from '../test/bundle/prove-bundle.ts';

/** Rebuilds `dist/`: compiles, bundles and runs the code, and then replaces the folder. The same sources give the same bytes. */

const root = join(import.meta.dirname, '..');
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

/** Replaces the only occurrence of a text. Fails if another version of the toolkit has none or several. */
function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`The toolkit has changed: ${from}`);
  return text.replace(from, to);
}

type Edit = (file: string, change: (text: string) => string) => Promise<void>;

/** Puts a copy of a package where the compiled files find it first. */
async function copyPackage(name: string): Promise<{ readonly copy: string; readonly edit: Edit }> {
  const copy = join(root, 'build/bundle/node_modules', name);
  await cp(join(root, 'node_modules', name), copy, { recursive: true });
  return {
    copy,
    edit: async (file, change) => writeFile(join(copy, file), change(await readFile(join(copy, file), 'utf8'))),
  };
}

/** `npm run bench -- start` asks for it: nothing uses Node's assert, which takes a twentieth as long to load as Node itself. */
async function copyHttpClient(): Promise<void> {
  await copyPackage('@actions/http-client');
  const { edit } = await copyPackage('tunnel');
  await edit('lib/tunnel.js', (text) => replaceOnce(text, "var assert = require('assert');", ''));
}

/**
 * `npm run bench -- start` asks for four changes. Its package.json says what is true of it, that loading a module does nothing: so the bundler leaves out what the
 * action never calls, child processes and a second HTTP client. It takes its delimiters from `scripts/stubs/crypto`, because
 * loading Node's crypto takes a third as long as Node itself. It writes to stdout without a stream, which takes as long.
 * And it writes the summary without `fs.promises`, which loads a part of Node of its own.
 */
async function copyToolkit(): Promise<void> {
  const { copy, edit } = await copyPackage('@actions/core');
  await cp(join(root, 'scripts/stubs/crypto/index.js'), join(copy, 'lib/crypto.js'));
  await cp(join(root, 'scripts/stubs/stdout/index.js'), join(copy, 'lib/stdout.js'));
  await edit('package.json', (text) => JSON.stringify({ ...JSON.parse(text), sideEffects: false }));
  for (const file of ['lib/command.js', 'lib/core.js']) {
    await edit(file, (text) => {
      if (!text.includes('process.stdout.write(')) throw new Error(`The toolkit has changed: ${file}`);
      const written = text.replaceAll('process.stdout.write(', 'writeOut(');
      return `import { writeOut } from './stdout.js';\n${written}`;
    });
  }
  await edit('lib/file-command.js', (text) => replaceOnce(text, "from 'crypto';", "from './crypto.js';"));
  await edit('lib/summary.js', (text) =>
    replaceOnce(
      replaceOnce(
        text,
        "import { constants, promises } from 'fs';",
        "import * as fs from 'fs';\nconst { constants } = fs;",
      ),
      'const { access, appendFile, writeFile } = promises;',
      'const { accessSync: access, appendFileSync: appendFile, writeFileSync: writeFile } = fs;',
    ),
  );
}

/** `uses: $/…` cannot name the root of a repository, so the reusable workflows use this copy of `action.yml`. */
async function writeInnerAction(folder: string): Promise<void> {
  const action = await readFile(join(root, 'action.yml'), 'utf8');
  const note = '# Written by `npm run build` from ../action.yml, for `uses: $/dist`.\n';
  await writeFile(join(folder, 'action.yml'), note + action.replaceAll(/^( {2}(?:main|post): )dist\//gm, '$1'));
}

/** The bundler lists the licenses of what it bundles, but overlooks a copy that several modules import. */
async function addToolkitLicense(file: string): Promise<void> {
  const licenses = await readFile(file, 'utf8');
  if (licenses.startsWith('@actions/core\n')) return;
  const own = await readFile(join(root, 'node_modules/@actions/core/LICENSE.md'), 'utf8');
  await writeFile(file, `@actions/core\nMIT\n${own.trim()}\n\n${licenses}`);
}

/** The paths of modules are in the bundle until it is minified. */
async function checkLicenses(folder: string): Promise<void> {
  const licenses = (await readFile(join(folder, 'licenses.txt'), 'utf8')).split('\n');
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.js'))) {
    const code = await readFile(join(folder, name), 'utf8');
    for (const [, bundled = ''] of code.matchAll(/\/node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//g)) {
      if (!licenses.includes(bundled)) throw new Error(`${name} has ${bundled}, and licenses.txt does not.`);
    }
  }
}

/**
 * `npm run bench -- start` shows the gain: parsing takes a tenth of the time to start. Other minifiers remove the
 * parentheses around functions. With them, V8 compiles a function at once instead of reading it twice.
 */
async function minifyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.js')) continue;
    const file = join(folder, name);
    const { code, errors } = minifySync(name, withoutRequire(await readFile(file, 'utf8')), { module: true });
    if (errors.length > 0) throw new AggregateError(errors, `${name} could not be minified.`);
    await writeFile(file, code);
  }
}

/** `npm run bench -- start` asks for it: the bundler loads Node's module loader to load parts of Node. */
function withoutRequire(code: string): string {
  const required = code.replaceAll(
    /__WEBPACK_EXTERNAL_createRequire\(import\.meta\.url\)\("([\w:/]+)"\)/g,
    (_, name) => {
      if (!isBuiltin(name)) throw new Error(`${name} is not a part of Node.`);
      return `process.getBuiltinModule("${name}")`;
    },
  );
  return required.replace('import { createRequire as __WEBPACK_EXTERNAL_createRequire } from "module";', '');
}

await rm(join(root, 'build/bundle'), { recursive: true, force: true });
await copyToolkit();
await copyHttpClient();
run('typescript/bin/tsc', '--project', 'scripts/tsconfig.build.json', '--outDir', compiled, '--removeComments');
bundle(`${compiled}/action/main.js`, made);
bundle(`${compiled}/action/post.js`, `${made}/post`);
bundle(`${compiled}/action/renew.js`, `${made}/renew`);
for (const folder of [made, `${made}/post`]) await addToolkitLicense(join(root, folder, 'licenses.txt'));
for (const folder of [made, `${made}/post`, `${made}/renew`]) {
  await checkLicenses(join(root, folder));
  await minifyFolder(join(root, folder));
}
// The one above them says the same: the files are ECMAScript modules.
for (const folder of ['post', 'renew']) await rm(join(root, made, folder, 'package.json'));

await writeInnerAction(join(root, made));
await proveBundle(join(root, made));
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(join(root, made), join(root, 'dist'));
