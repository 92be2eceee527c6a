import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';

/** Makes `build/workspace-service.mjs`: the command and the service in one file that needs nothing but Node. */

const root = join(import.meta.dirname, '..');

/** `revision` is the commit where git cannot name it, as in the build of an image; `unknown` if nobody knows it. */
export async function compile(revision = checkedOut(root)): Promise<void> {
  const version: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const bundle = await rolldown({
    input: join(root, 'src/main.ts'),
    platform: 'node',
    // The driver tries this one, which is compiled for one platform, only if it is asked to.
    external: ['pg-native'],
    optimization: { pifeForModuleWrappers: false },
    plugins: [
      inPlaceOf('src/built/version.ts', {
        packageVersion: version.version,
        revision: shortened(revision),
        versionText: `${version.version} (revision ${shortened(revision) ?? 'unknown'})`,
      }),
      inPlaceOf('src/service/dashboard/frame/asset-files.ts', { assetFiles: assetFiles() }),
      { name: 'english only', load: (id) => (/\/zod\/v4\/locales\/index\.js$/.test(id) ? 'export {};' : null) },
    ],
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    // Names stay in traces of errors.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
  mkdirSync(join(root, 'build'), { recursive: true });
  const chunks = output.filter((each) => each.type === 'chunk');
  const text = `${inOneFile(chunks)}/*\n${licensesOf(chunks.flatMap(({ moduleIds }) => moduleIds)).replaceAll('*/', '* /')}*/\n`;
  writeFileSync(join(root, 'build/workspace-service.mjs'), text, { mode: 0o755 });
}

/** A module of constants. */
function inPlaceOf(file: string, values: Readonly<Record<string, unknown>>): Plugin {
  const code = Object.entries(values).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
  return { name: `in place of ${file}`, load: (id) => (id === join(root, file) ? code.join('\n') : null) };
}

function assetFiles(): Readonly<Record<string, string>> {
  const folder = join(root, 'src/service/dashboard/assets');
  const names = readdirSync(folder).filter((name) => /\.(css|js|svg)$/.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function inOneFile(chunks: readonly OutputChunk[]): string {
  const sources = chunks.map(
    ({ fileName, code }) => `\n    ${JSON.stringify(`./${fileName}`)}: () => ${inAscii(JSON.stringify(code))},`,
  );
  const start = readFileSync(join(root, 'scripts/one-file.js'), 'utf8');
  return `${start}\n`.replace('sources = {', (before) => `${before}${sources.join('')}\n  `);
}

/** V8 reads a file twice as fast if it has one byte for each character. */
export const inAscii = (code: string): string =>
  code.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The licenses of the packages that these modules are from. */
export function licensesOf(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const name = folder.replace(/^.*\/node_modules\//, '');
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name}\n\n${file === undefined ? licenseNamedBy(folder) : readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join('\n');
}

function licenseNamedBy(folder: string): string {
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${license}, ${JSON.stringify(author)}`;
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
  await compile(values.revision);
}
