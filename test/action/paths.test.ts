import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { lockPath } from '../client/test-client.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { createFiles, problemsIn, resolverIn } from './resolving.ts';

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

const folder = folderOfTests();
let checkout: string;

/** Creates a folder with these files. */
async function folderWith(name: string, ...names: readonly string[]): Promise<string> {
  const at = join(folder, name);
  await createFiles(at, names);
  return at;
}

beforeAll(async () => {
  checkout = await folderWith('checkout', ...files);
  await folderWith('.', 'outside.umap', 'a[1].txt');
});

const { resolve, paths, problems } = resolverIn(() => checkout);

const arena = 'Content/Maps/Arena.umap';
const cave = 'Content/Maps/Deep/Cave.umap';

test.each<[string, string, readonly string[]]>([
  ['a path stands for itself, whether the file exists or not', 'Content/Hero.uasset\nb', ['Content/Hero.uasset', 'b']],
  ['a path may have backslashes and redundant segments', 'a\\b\n./c//d/./e', ['a/b', 'c/d/e']],
  [
    'a path counts once, in whatever form it is written',
    `b\na\n./a\nb\n${composed}\n${decomposed}\nB`,
    ['b', 'a', composed, 'B'],
  ],
  ['a pattern stands for all files that it matches, in order', 'Content/Maps/**/*.umap', [arena, cave]],
  ['a pattern may have backslashes and redundant segments', '.\\Content\\\\Maps\\.\\*.umap', [arena]],
  ['a pattern may have alternatives', 'Content/Maps/*.{umap,upk}', [arena]],
  ['a pattern may have single wildcards', 'Content/?aps/Arena.*', [arena]],
  ['a path that several lines match counts once', `Content/Maps/*.umap\n${arena}\nContent/**/Arena.umap`, [arena]],
  ['a composed pattern matches a name that is stored decomposed', 'Conten?/Caf\u00e9.umap', [composed]],
  ['a file name may look like a pattern', 'Content/Rock[1].fbx', ['Content/Rock[1].fbx']],
  ['a file name that looks like a pattern may have backslashes', '.\\Content\\Rock[1].fbx', ['Content/Rock[1].fbx']],
  ['a file name may have braces', 'Content/{a,b}.txt', ['Content/{a,b}.txt']],
  ['a file name may start with !', '!important.txt', ['!important.txt']],
  ['! excludes paths of earlier lines', 'Content/Maps/**\n!**/*.txt', [arena, cave]],
  ['! does not exclude paths of later lines', '!**/Arena.umap\nContent/Maps/*.umap', [arena]],
  ['! excludes a path without a file', 'Content/New.uasset\na\n!Content/*.uasset', ['a']],
  ['! excludes a path in whatever form it is written', 'Content/New.uasset\na\n!./Content\\New.uasset', ['a']],
  ['! excludes a file whose name looks like a pattern', 'Content/*.fbx\na\n!Content/Rock[1].fbx', ['a']],
  ['! excludes a name whether composed or decomposed', `Content/Caf*\na\n!${decomposed}`, ['a']],
  ['! may match nothing', 'a\n!Nothing/**\n!b', ['a']],
])('%s: %j', async (_, lines, expected) => {
  expect(await paths(lines)).toEqual(expected);
});

test('a pattern matches neither folders nor hidden files such as those of the repository', async () => {
  const seen = files.filter((file) => !file.startsWith('.git')).map((file) => file.normalize('NFC'));
  expect(await paths('**/*')).toEqual(seen.toSorted());
});

const relative = 'A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.';

test.each([
  ...['Content/../../*.umap', '..\\*.umap', '../a[1].txt'].map((pattern) => [
    pattern,
    'A pattern must not leave the checkout with "..".',
  ]),
  ...['/etc/*', '\\\\server\\share\\*', 'C:\\Assets\\*', 'c:/*', '!'].map((pattern) => [pattern, relative]),
])('rejects the pattern %s: %s', async (pattern, reason) => {
  expect(await problems(pattern)).toEqual([`Input \`path\` has the line ${JSON.stringify(pattern)}. ${reason}`]);
});

test.each(['Content/Nothing/*.umap', 'Content/*/', 'content/**/*.UMAP'])(
  'rejects the pattern %s, which matches nothing',
  async (text) => {
    expect(await problems(text)).toEqual([
      `Input \`path\` has the line "${text}". No file of the checkout in ${checkout} matches it, and no lock of this job. Check it out first, or set \`glob: false\` if this is the name of a file.`,
    ]);
  },
);

test.each(['Content/Maps/*.umap\n!**', '!a'])('rejects lines that exclude all paths: %j', async (lines) => {
  expect(await problems(lines)).toEqual([
    'Input `path` selects nothing: its lines with "!" exclude everything that the other lines select.',
  ]);
});

test('treats a link to a file as a file', async () => {
  const at = await folderWith('with-links', 'a.txt');
  await symlink('a.txt', join(at, 'b.txt'));
  await symlink('nowhere', join(at, 'c.txt'));
  expect(await paths('*.txt', { checkout: at })).toEqual(['a.txt', 'b.txt']);
});

test('rejects a file whose name cannot be the path of a lock', async () => {
  expect(await problems('*.txt', { checkout: await folderWith('with-backslash', 'a\\b.txt') })).toEqual([
    'Input `path` has the line "*.txt". It matches the file "a\\\\b.txt", which cannot be locked. A path is written with /, not with a backslash.',
  ]);
});

const held = new Set(['Content/Maps/Gone.umap', arena, 'Textures/Gone.png'].map(lockPath));

test.each([
  [
    'are also matched by a pattern',
    'Content/Maps/*.umap\nTextures/**',
    [arena, 'Content/Maps/Gone.umap', 'Textures/Gone.png'],
  ],
  ['are excluded by a line with !', 'Content/Maps/*.umap\n!**/Gone.*', [arena]],
])('the paths that a job has locked %s, even if the checkout lacks them', async (_, lines, expected) => {
  expect((await paths(lines, { held })).toSorted()).toEqual(expected);
});

test('distinguishes named paths from matched paths', async () => {
  const resolved = await resolve(`Content/Maps/**/*.umap\n${arena}\nContent/Rock[1].fbx\nContent/Ro*1.fbx`);
  expect(resolved.paths).toEqual([
    [arena, 'named'],
    [cave, 'matched'],
    ['Content/Rock[1].fbx', 'named'],
    ['Content/Rock1.fbx', 'matched'],
  ]);
});

test.each([
  ['Content/Maps/*.umap', true],
  [`${arena}\nContent/Maps/*.umap`, true],
  [`Content/Maps/*.umap\n${arena}`, true],
  [`Content/Rock[1].fbx\nContent/Maps/*.umap\n!Content/Maps/**`, true],
  [`Content/Rock[1].fbx\n${arena}\n!Content/Maps/**`, false],
])('%j uses a pattern: %s', async (lines, expected) => {
  expect((await resolve(lines)).hasPattern).toBe(expected);
});

test('takes every line as a path with glob: false', async () => {
  const lines = ['Content/*.uasset', '!x', 'Rock[2].fbx', '{a}'];
  expect(await paths(lines.join('\n'), {}, false)).toEqual(lines);
});

test('the path of the checkout may end in a slash, be a link and contain wildcard characters', async () => {
  const link = join(folder, 'link');
  await symlink(checkout, link);
  for (const at of [`${checkout}/`, link, `${link}/`]) {
    expect(await paths('Content/Maps/*.umap', { checkout: at })).toEqual([arena]);
  }
  expect(await paths('*.txt', { checkout: await folderWith('we[i]rd *', 'a.txt') })).toEqual(['a.txt']);
  expect(await problems('*.txt', { checkout: join(folder, 'missing') })).toHaveLength(1);
});

test('resolves any lines to unique paths in the canonical form of locks', async () => {
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
