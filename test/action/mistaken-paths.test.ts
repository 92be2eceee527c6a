import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { suggestionFor, unknownLinesText } from '../../src/action/paths/resolve-paths.ts';
import { openCheckout } from '../../src/locks/checkout.ts';
import { lockPath } from '../client/test-client.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { createFiles, type Resolving, resolverIn } from './resolving.ts';

const files = [
  'Content/Hero.uasset',
  'Content/Heroine.uasset',
  'Content/Maps/Arena.umap',
  'Content/Old[1]/a.txt',
  'Content/Caf\u00e9.umap'.normalize('NFD'),
  'Content/two words.txt',
  '# notes.txt',
  '$cache.txt',
  '"quoted".txt',
  '- list.txt',
  '~/home.txt',
  'a,b.txt',
];

const folder = folderOfTests();
let checkout: string;
let empty: string;

beforeAll(async () => {
  checkout = join(folder, 'checkout');
  empty = join(folder, 'empty');
  await mkdir(empty);
  await createFiles(checkout, files);
  await symlink('Maps', join(checkout, 'Content', 'Linked'));
});

const { resolve, paths: pathsOf, warnings: warningsOf, problems: problemsOf } = resolverIn(() => checkout);

const advice =
  'Write only a path of the workspace, without list marker, quotes, comment or shell variable. If a file has this name, set `glob: false`.';

describe('a line that is unlikely to be a path', () => {
  const lines = ['- Content/**', "'Content/Hero.uasset'", '"Content/**",', '# a comment', '$FOLDER/Hero.uasset', '~/x'];

  test.each(lines)('is an error: %s', async (line) => {
    const problem = `Input \`path\` has the line ${JSON.stringify(line)}. ${advice}`;
    for (const at of [checkout, empty]) expect(await problemsOf(line, { checkout: at })).toEqual([problem]);
  });

  test('means a file of that name, or a lock of the job on it', async () => {
    const named = ['# notes.txt', '$cache.txt', '"quoted".txt', '- list.txt', '~/home.txt'];
    expect(await resolve(named.join('\n'))).toEqual({
      paths: named.map((path) => [path, 'named']),
      hasPattern: false,
      warnings: [],
    });
    expect(await pathsOf('# locked', { held: new Set([lockPath('# locked')]) })).toEqual(['# locked']);
  });
});

describe('a folder of the checkout', () => {
  const problem = (line: string, pattern: string): string =>
    `Input \`path\` has the line "${line}". It is a folder of the checkout in ${checkout}. Write \`${pattern}\` for the files below it. To use the path of the folder itself, set \`glob: false\`.`;

  test.each([
    ['Content/Maps', 'Content/Maps/**'],
    ['Content/Linked', 'Content/Linked/**'],
    ['Content/Old[1]', 'Content/Old?1?/**'],
  ])('is an error that suggests a pattern: %s', async (line, pattern) => {
    expect(await problemsOf(line)).toEqual([problem(line.replaceAll('\\', '\\\\'), pattern)]);
    expect((await pathsOf(pattern)).length).toBeGreaterThan(0);
  });

  test('is a path with glob: false', async () => {
    expect(await pathsOf('Content/Maps', {}, false)).toEqual(['Content/Maps']);
  });
});

describe('lines without a file', () => {
  test('cause one warning that lists a few of them, and are used unchanged', async () => {
    const lines = ['content/hero.uasset', 'x', 'y', 'Content/Hero.uasset', 'z', 'v', 'w'];
    expect(await pathsOf(lines.join('\n'))).toEqual(lines);
    expect(await warningsOf(lines.join('\n'))).toEqual([
      `6 lines of \`path\` name no file of the checkout in ${checkout}: "content/hero.uasset" (did you mean "Content/Hero.uasset"?), "x", "y", "z", "v" and 1 more. To use paths that have no file, set \`glob: false\`.`,
    ]);
    expect(await warningsOf('x')).toEqual([expect.stringMatching(/^1 line of `path` names no file /)]);
  });

  test.each<[string, string, Resolving?, boolean?]>([
    ['glob is false', 'x', {}, false],
    ['the job has a lock on the path', 'x', { held: new Set([lockPath('x')]) }],
    ['a later line excludes them', 'x\nContent/Hero.uasset\n!x'],
    ['the file name is stored decomposed', 'Content/Caf\u00e9.umap'],
    ['the file is below a folder that is a link', 'Content/Linked/Arena.umap'],
    ['the file names have blanks and a comma', 'Content/two words.txt\na,b.txt'],
  ])('cause no warning if %s', async (_, lines, options = {}, glob = true) => {
    expect(await warningsOf(lines, options, glob)).toEqual([]);
  });

  test('cause no warning before a checkout', async () => {
    for (const at of [empty, join(folder, 'missing')]) expect(await warningsOf('x', { checkout: at })).toEqual([]);
  });
});

test.each([
  ['content/MAPS/arena.UMAP', 'did you mean "Content/Maps/Arena.umap"?'],
  ['Content/Map/Arena.umap', 'did you mean "Content/Maps/Arena.umap"?'],
  ['Content/cafe\u0301.umap', 'did you mean "Content/Caf\u00e9.umap"?'],
  ['content/maps', 'did you mean "Content/Maps/**"?'],
  ['Content/Hero.uasset, Content/Maps/Arena.umap', undefined],
  ['Textures/Hero.uasset', undefined],
  ['Content/Villain.uasset', undefined],
  ['Content/Hero.uasset/x', undefined],
])('suggests, for %j: %s', (line, suggestion) => {
  expect(suggestionFor(line, openCheckout(checkout))).toBe(suggestion);
});

test('a suggested name differs only in case or by at most two letters, and no other name is as close', () => {
  const names = ['Chair1.uasset', 'Chair2.uasset', 'Table.uasset', 'ab', 'HERO', 'hero'];
  const suggestion = (name: string) => suggestionFor(name, { ...openCheckout(checkout), namesIn: () => names });
  expect(suggestion('chair1.uasset')).toBe('did you mean "Chair1.uasset"?');
  expect(suggestion('Chair3.uasset')).toBeUndefined();
  for (const name of ['Tabel.uasset', 'Tab.uasset', 'Tbales.uasset']) {
    expect(suggestion(name)).toBe('did you mean "Table.uasset"?');
  }
  expect(suggestion('Tbaless.uasset')).toBeUndefined();
  expect(suggestion('ac')).toBeUndefined();
  expect(suggestion('Hero')).toBeUndefined();
  expect(suggestion('hero')).toBe('did you mean "hero"?');
});

test('a large checkout is read only along the paths of the lines, each folder once', async () => {
  const at = join(folder, 'wide');
  for (let number = 0; number < 50; number += 1) await mkdir(join(at, 'Content', String(number)), { recursive: true });
  const read: string[] = [];
  const { find, namesIn, ...rest } = openCheckout(at);
  const watched = {
    ...rest,
    find,
    namesIn: (path: string) => {
      read.push(path);
      return namesIn(path);
    },
  };
  unknownLinesText(
    Array.from({ length: 1_000 }, (_, number) => `content/7/${number}.umap`),
    watched,
  );
  expect(new Set(read)).toEqual(new Set(['', 'Content', 'Content/7']));
  expect(read).toHaveLength(5 * 3);
});
