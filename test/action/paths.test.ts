import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputError } from '../../src/action/inputs/input-error.ts';
import { type ResolveOptions, resolvePaths } from '../../src/action/paths/resolve-paths.ts';
import { lockPath } from '../client/test-client.ts';
import { loadStep, rightStep } from './step-environment.ts';

const composed = 'Content/Caf\u00e9.umap';
const decomposed = composed.normalize('NFD');

const files = [
  'Content/Hero.uasset',
  'Content/Maps/Arena.umap',
  'Content/Maps/Deep/Cave.umap',
  'Content/Maps/Deep/Notes.txt',
  'Content/Rock[1].fbx',
  'Content/Rock1.fbx',
  'Content/{a,b}.txt',
  '!important.txt',
  '.git/config',
  decomposed,
];

let folder: string;
let checkout: string;

/** A folder with these files. */
async function folderWith(name: string, ...names: readonly string[]): Promise<string> {
  const at = join(folder, name);
  for (const file of names) {
    await mkdir(dirname(join(at, file)), { recursive: true });
    await writeFile(join(at, file), '');
  }
  return at;
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'paths-')));
  checkout = await folderWith('checkout', ...files);
  await folderWith('.', 'outside.umap', 'a[1].txt');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the lines of the input `path` mean in a step; undefined if they are refused before the checkout is looked at. */
function resolve(path: string, options: Partial<ResolveOptions> = {}, glob = true) {
  const loaded = loadStep(rightStep('lock', { path, glob: String(glob) }));
  if (!loaded.ok || loaded.inputs.task.operation !== 'lock') return undefined;
  return resolvePaths(loaded.inputs.task.paths, { checkout, ...options });
}

const paths = async (...given: Parameters<typeof resolve>) => (await resolve(...given))?.paths.map((each) => each.path);

const problemsIn = (error: unknown): readonly string[] => {
  if (error instanceof InputError) return error.problems;
  throw error;
};

const problems = async (...given: Parameters<typeof resolve>) => resolve(...given)?.then(() => [], problemsIn);

const arena = 'Content/Maps/Arena.umap';
const cave = 'Content/Maps/Deep/Cave.umap';

test.each<[string, string, readonly string[]]>([
  ['a path is itself, whether there is such a file or not', 'Content/Hero.uasset\nb', ['Content/Hero.uasset', 'b']],
  ['a path may have backslashes, and segments that change nothing', 'a\\b\n./c//d/./e', ['a/b', 'c/d/e']],
  [
    'a path counts once, however it is written',
    `b\na\n./a\nb\n${composed}\n${decomposed}\nB`,
    ['b', 'a', composed, 'B'],
  ],
  ['a pattern is every file that it matches, in order', 'Content/Maps/**/*.umap', [arena, cave]],
  ['a pattern may have backslashes', 'Content\\Maps\\*.umap', [arena]],
  ['a pattern may have segments that change nothing', './Content//Maps/./*.umap', [arena]],
  ['a pattern may have alternatives', 'Content/Maps/*.{umap,upk}', [arena]],
  ['a pattern may have single wildcards', 'Content/?aps/Arena.*', [arena]],
  ['a path that several lines match counts once', `Content/Maps/*.umap\n${arena}\nContent/**/Arena.umap`, [arena]],
  ['a pattern matches a name that is stored decomposed, written composed', 'Conten?/Caf\u00e9.umap', [composed]],
  ['a pattern matches a name that is stored decomposed, written so', 'Conten?/Cafe\u0301.umap', [composed]],
  ['a file may have a name like a pattern', 'Content/Rock[1].fbx', ['Content/Rock[1].fbx']],
  ['such a name may have backslashes', 'Content\\Rock[1].fbx', ['Content/Rock[1].fbx']],
  ['such a name may have segments that change nothing', './Content/Rock[1].fbx', ['Content/Rock[1].fbx']],
  ['such a name may have braces', 'Content/{a,b}.txt', ['Content/{a,b}.txt']],
  ['such a name may begin with !', '!important.txt', ['!important.txt']],
  ['! takes away what the lines before it have named', 'Content/Maps/**\n!**/*.txt', [arena, cave]],
  ['! does not take away what comes after it', '!**/Arena.umap\nContent/Maps/*.umap', [arena]],
  ['! takes away a path that is no file, too', 'Content/New.uasset\na\n!Content/*.uasset', ['a']],
  ['! takes away a path by its name', 'Content/New.uasset\na\n!Content/New.uasset', ['a']],
  ['! takes away a path however it is written', 'Content/New.uasset\na\n!./Content\\New.uasset', ['a']],
  ['! takes away a file that has the name of a pattern', 'Content/*.fbx\na\n!Content/Rock[1].fbx', ['a']],
  ['! takes away a name however it is composed', `Content/Caf*\na\n!${decomposed}`, ['a']],
  ['! may match nothing', 'a\n!Nothing/**\n!b', ['a']],
])('%s: %j', async (_, lines, expected) => {
  expect(await paths(lines)).toEqual(expected);
});

test('a pattern leaves out folders, and what is hidden, such as the repository itself', async () => {
  const seen = files.filter((file) => !file.startsWith('.git')).map((file) => file.normalize('NFC'));
  expect(await paths('**/*')).toEqual(seen.toSorted());
});

const relative = 'A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.';

test.each([
  ...['../*.umap', 'Content/../../*.umap', '..\\*.umap', '../a[1].txt'].map((pattern) => [
    pattern,
    'A pattern must not leave the checkout with "..".',
  ]),
  ...['/etc/*', '\\\\server\\share\\*', 'C:\\Assets\\*', 'c:/*', '!'].map((pattern) => [pattern, relative]),
])('the pattern %s is refused: %s', async (pattern, reason) => {
  expect(await problems(pattern)).toEqual([`Input \`path\` has the line ${JSON.stringify(pattern)}. ${reason}`]);
});

test.each(['Content/Nothing/*.umap', 'Content/*/', 'content/**/*.UMAP'])(
  '%s matches nothing: an error',
  async (text) => {
    expect(await problems(text)).toEqual([
      `Input \`path\` has the line "${text}". No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`,
    ]);
  },
);

test.each(['Content/Maps/*.umap\n!**', '!a'])('something must be left: %j', async (lines) => {
  expect(await problems(lines)).toEqual([
    'Input `path` names no path: the lines with "!" remove everything the other lines name.',
  ]);
});

test('every line that is wrong is told', async () => {
  expect(await problems('x/*\nContent/Hero.uasset\n../*\n/*')).toHaveLength(3);
});

test('a link to a file is taken for a file', async () => {
  const at = await folderWith('with-links', 'a.txt');
  await symlink('a.txt', join(at, 'b.txt'));
  await symlink('nowhere', join(at, 'c.txt'));
  expect(await paths('*.txt', { checkout: at })).toEqual(['a.txt', 'b.txt']);
});

test('a file whose name cannot be the path of a lock is refused', async () => {
  expect(await problems('*.txt', { checkout: await folderWith('with-backslash', 'a\\b.txt') })).toEqual([
    'Input `path` has the line "*.txt". It matches the file "a\\\\b.txt", which cannot be locked. A path is written with /, not with a backslash.',
  ]);
});

describe('with the paths that a job has locked', () => {
  const lockedPaths = ['Content/Maps/Gone.umap', arena, 'Textures/Gone.png'].map(lockPath);

  test.each([
    [
      'a pattern matches those, too',
      'Content/Maps/*.umap\nTextures/**',
      [arena, 'Content/Maps/Gone.umap', 'Textures/Gone.png'],
    ],
    ['a line with ! takes them away', 'Content/Maps/*.umap\n!**/Gone.*', [arena]],
  ])('%s, whether the checkout has them or not', async (_, lines, expected) => {
    expect((await paths(lines, { lockedPaths }))?.toSorted()).toEqual(expected);
  });

  test('a pattern that matches neither a file nor a lock is an error that says so', async () => {
    expect(await problems('Sounds/**', { lockedPaths })).toEqual([
      `Input \`path\` has the line "Sounds/**". This job holds no lock that matches it, nor does the checkout in ${checkout} have such a file. If this is the name of a file, set \`glob: false\`.`,
    ]);
  });
});

test('what a line names stays apart from what a pattern matches', async () => {
  const resolved = await resolve(`Content/Maps/**/*.umap\n${arena}\nContent/Rock[1].fbx\nContent/Ro*1.fbx`);
  expect(resolved?.paths).toEqual([
    { kind: 'named', path: arena },
    { kind: 'matched', path: cave },
    { kind: 'named', path: 'Content/Rock[1].fbx' },
    { kind: 'matched', path: 'Content/Rock1.fbx' },
  ]);
});

test('with glob: false, every line is a path', async () => {
  const lines = ['Content/*.uasset', '!x', 'Rock[2].fbx', '{a}'];
  expect(await paths(lines.join('\n'), {}, false)).toEqual(lines);
});

test('the address of the checkout may end in a slash, be a link, and have characters of a pattern', async () => {
  const link = join(folder, 'link');
  await symlink(checkout, link);
  for (const at of [`${checkout}/`, link, `${link}/`]) {
    expect(await paths('Content/Maps/*.umap', { checkout: at })).toEqual([arena]);
  }
  expect(await paths('*.txt', { checkout: await folderWith('we[i]rd *', 'a.txt') })).toEqual(['a.txt']);
  expect(await problems('*.txt', { checkout: join(folder, 'missing') })).toHaveLength(1);
});

test('ten thousand files are a matter of seconds', async () => {
  const names = Array.from({ length: 1_000 }, (_, number) => `${String(number).padStart(4, '0')}.umap`);
  const at = await folderWith('many', ...names.map((name) => join('0', name)));
  // Links to the same folder: to create so many files would take longer than all the rest.
  const folders = Array.from({ length: 10 }, (_, number) => String(number));
  for (const name of folders.slice(1)) await symlink('0', join(at, name));
  const started = performance.now();
  const lines = [...folders.map((name) => `${name}/*.umap`), '!**/*5.umap', '!no/**'];
  expect(await paths(lines.join('\n'), { checkout: at })).toEqual(
    folders.flatMap((name) => names.filter((file) => !file.endsWith('5.umap')).map((file) => `${name}/${file}`)),
  );
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('whatever the lines are, a path that comes out of them is in the one form that locks have', async () => {
  const words = ['a', '..', '.', '', 'Content', 'Maps', '*', '**', 'Rock[1].fbx', '\u00e9', 'e\u0301', '!', 'C:'];
  const segments = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 });
  const line = segments.chain((all) => fc.constantFrom(all.join('/'), all.join('\\')));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), fc.boolean(), async (lines, glob) => {
      const resolved = await paths(lines.join('\n'), {}, glob).catch((error: unknown) => {
        expect(problemsIn(error)).not.toEqual([]);
        return undefined;
      });
      if (resolved === undefined) return;
      expect(resolved.length).toBeGreaterThan(0);
      expect(new Set(resolved).size).toBe(resolved.length);
      for (const path of resolved) {
        expect(path).toBe(path.normalize('NFC'));
        expect(path.split('/')).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(\.\.?)?$/)]));
        expect(path).not.toContain('\\');
      }
    }),
    { numRuns: 200 },
  );
});
