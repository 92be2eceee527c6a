import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputError } from '../../src/action/outcome.ts';
import { resolvePaths } from '../../src/action/paths/resolve-paths.ts';
import { type LockPath, parseLockPath } from '../../src/interface/lock-path.ts';
import { inputsOf, loadStep, rightStep } from './step-environment.ts';

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

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'paths-')));
  checkout = join(folder, 'checkout');
  for (const file of files) {
    await mkdir(dirname(join(checkout, file)), { recursive: true });
    await writeFile(join(checkout, file), '');
  }
  await writeFile(join(folder, 'outside.umap'), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the lines of the input `path` mean in a step. */
function resolve(
  path: string,
  {
    glob = 'true',
    at = checkout,
    lockedPaths,
  }: { readonly glob?: string; readonly at?: string; readonly lockedPaths?: readonly LockPath[] } = {},
) {
  const { task } = inputsOf(rightStep('lock', { path, glob }));
  if (task.operation !== 'lock') throw new Error('Another operation than was asked for.');
  return resolvePaths(task.paths, { checkout: at, ...(lockedPaths && { lockedPaths }) });
}

async function paths(path: string, options?: Parameters<typeof resolve>[1]): Promise<readonly string[]> {
  return (await resolve(path, options)).map((each) => each.path);
}

const problemsIn = (error: unknown): readonly string[] => {
  if (error instanceof InputError) return error.problems;
  throw error;
};

async function problems(path: string, options?: Parameters<typeof resolve>[1]): Promise<readonly string[]> {
  return resolve(path, options).then(() => [], problemsIn);
}

describe('a line without wildcards', () => {
  test('is the path, whether there is such a file or not', async () => {
    expect(await paths('Content/Hero.uasset\nContent/New.uasset')).toEqual([
      'Content/Hero.uasset',
      'Content/New.uasset',
    ]);
  });

  test('may be written with backslashes, and with segments that change nothing', async () => {
    expect(await paths('Content\\Hero.uasset\n./Content//Maps/./Arena.umap')).toEqual([
      'Content/Hero.uasset',
      'Content/Maps/Arena.umap',
    ]);
  });

  test('counts once, however often and however it is written', async () => {
    expect(await paths(`b\na\n./a\nb\n${composed}\n${decomposed}\nB`)).toEqual(['b', 'a', composed, 'B']);
  });
});

describe('a pattern', () => {
  test('is every file of the checkout that it matches, in order', async () => {
    expect(await paths('Content/Maps/**/*.umap')).toEqual(['Content/Maps/Arena.umap', 'Content/Maps/Deep/Cave.umap']);
  });

  test.each(['Content\\Maps\\*.umap', './Content//Maps/./*.umap', 'Content/Maps/*.{umap,upk}', 'Content/?aps/Arena.*'])(
    '%s may be written so',
    async (pattern) => {
      expect(await paths(pattern)).toEqual(['Content/Maps/Arena.umap']);
    },
  );

  test('matches a path only once, together with the lines beside it', async () => {
    expect(await paths('Content/Maps/*.umap\nContent/Maps/Arena.umap\nContent/**/Arena.umap')).toEqual([
      'Content/Maps/Arena.umap',
    ]);
  });

  test('leaves out folders, and what is hidden, such as the repository itself', async () => {
    expect(await paths('**/*')).toEqual(
      files
        .filter((file) => !file.startsWith('.git'))
        .map((file) => file.normalize('NFC'))
        .toSorted(),
    );
  });

  test.each([composed, decomposed])('matches a name whether it is stored composed or decomposed: %j', async (name) => {
    expect(await paths(name.replace('Content', 'Conten?'))).toEqual([composed]);
  });

  test.each(['Content/Nothing/*.umap', 'Content/*/', 'content/**/*.UMAP'])(
    '%s matches nothing: an error',
    async (pattern) => {
      expect(await problems(pattern)).toEqual([
        `Input \`path\` has the line "${pattern}". No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`,
      ]);
    },
  );

  test.each(['../*.umap', 'Content/../../*.umap', '..\\*.umap'])(
    '%s leaves the checkout: an error',
    async (pattern) => {
      expect(await problems(pattern)).toEqual([
        `Input \`path\` has the line ${JSON.stringify(pattern)}. A pattern must not leave the checkout with "..".`,
      ]);
    },
  );

  test.each(['/etc/*', '\\\\server\\share\\*', 'C:\\Assets\\*', 'c:/*', '!'])(
    '%s is not one of the checkout: an error',
    async (pattern) => {
      expect(await problems(pattern)).toEqual([
        `Input \`path\` has the line ${JSON.stringify(pattern)}. A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.`,
      ]);
    },
  );

  test('every line that is wrong is told', async () => {
    expect(await problems('x/*\nContent/Hero.uasset\n../*\n/*')).toHaveLength(3);
  });

  test('takes a link to a file for a file', async () => {
    const at = join(folder, 'with-links');
    await mkdir(at);
    await writeFile(join(at, 'a.txt'), '');
    await symlink('a.txt', join(at, 'b.txt'));
    await symlink('nowhere', join(at, 'c.txt'));
    expect(await paths('*.txt', { at })).toEqual(['a.txt', 'b.txt']);
  });

  test('refuses a file whose name cannot be the path of a lock', async () => {
    const at = join(folder, 'with-backslash');
    await mkdir(at);
    await writeFile(join(at, 'a\\b.txt'), '');
    expect(await problems('*.txt', { at })).toEqual([
      'Input `path` has the line "*.txt". It matches the file "a\\\\b.txt", which cannot be locked. A path is written with /, not with a backslash.',
    ]);
  });
});

describe('a line with wildcards that is the name of a file', () => {
  test.each([
    'Content/Rock[1].fbx',
    'Content\\Rock[1].fbx',
    './Content/Rock[1].fbx',
    'Content/{a,b}.txt',
    '!important.txt',
  ])('%s is that file', async (name) => {
    expect(await paths(name)).toEqual([name.replace('\\', '/').replace('./', '')]);
  });

  test('is not looked for outside of the checkout', async () => {
    await writeFile(join(folder, 'a[1].txt'), '');
    expect(await problems('../a[1].txt')).toHaveLength(1);
  });
});

describe('a line that starts with !', () => {
  test('takes away what the lines before it have named', async () => {
    expect(await paths('Content/Maps/**\n!**/*.txt')).toEqual([
      'Content/Maps/Arena.umap',
      'Content/Maps/Deep/Cave.umap',
    ]);
  });

  test('does not take away what comes after it', async () => {
    expect(await paths('!**/Arena.umap\nContent/Maps/*.umap')).toEqual(['Content/Maps/Arena.umap']);
  });

  test.each(['!Content/*.uasset', '!Content/New.uasset', '!./Content\\New.uasset'])(
    '%s takes away a path that is no file of the checkout, too',
    async (line) => {
      expect(await paths(`Content/New.uasset\na\n${line}`)).toEqual(['a']);
    },
  );

  test('takes away a file that has the name of a pattern', async () => {
    expect(await paths('Content/*.fbx\na\n!Content/Rock[1].fbx')).toEqual(['a']);
  });

  test('takes away a name however it is composed', async () => {
    expect(await paths(`Content/Caf*\na\n!${decomposed}`)).toEqual(['a']);
  });

  test('may match nothing', async () => {
    expect(await paths('a\n!Nothing/**\n!b')).toEqual(['a']);
  });

  test.each(['Content/Maps/*.umap\n!**', '!a'])('must leave something: %j', async (lines) => {
    expect(await problems(lines)).toEqual([
      'Input `path` names no path: the lines with "!" remove everything the other lines name.',
    ]);
  });
});

describe('with the paths that a job has locked', () => {
  const lockedPaths = ['Content/Maps/Gone.umap', 'Content/Maps/Arena.umap', 'Textures/Gone.png'].flatMap((path) => {
    const parsed = parseLockPath(path);
    return parsed.ok ? [parsed.value] : [];
  });

  test('a pattern matches those, too, whether the checkout has them or not', async () => {
    expect((await paths('Content/Maps/*.umap\nTextures/**', { lockedPaths })).toSorted()).toEqual([
      'Content/Maps/Arena.umap',
      'Content/Maps/Gone.umap',
      'Textures/Gone.png',
    ]);
  });

  test('a line with ! takes them away', async () => {
    expect(await paths('Content/Maps/*.umap\n!**/Gone.*', { lockedPaths })).toEqual(['Content/Maps/Arena.umap']);
  });

  test('a pattern that matches neither a file nor one of them is an error', async () => {
    expect(await problems('Sounds/**', { lockedPaths })).toHaveLength(1);
  });
});

test('what a line names stays apart from what a pattern matches', async () => {
  const resolved = await resolve(
    'Content/Maps/**/*.umap\nContent/Maps/Arena.umap\nContent/Rock[1].fbx\nContent/Ro*1.fbx',
  );
  expect(resolved).toEqual([
    { kind: 'named', path: 'Content/Maps/Arena.umap' },
    { kind: 'matched', path: 'Content/Maps/Deep/Cave.umap' },
    { kind: 'named', path: 'Content/Rock[1].fbx' },
    { kind: 'matched', path: 'Content/Rock1.fbx' },
  ]);
});

test('with glob: false, every line is a path', async () => {
  expect(await paths('Content/*.uasset\n!x\nRock[2].fbx\n{a}', { glob: 'false' })).toEqual([
    'Content/*.uasset',
    '!x',
    'Rock[2].fbx',
    '{a}',
  ]);
});

describe('the address of the checkout', () => {
  test('may end in a slash', async () => {
    expect(await paths('Content/Maps/*.umap', { at: `${checkout}/` })).toEqual(['Content/Maps/Arena.umap']);
  });

  test('may be a link', async () => {
    const at = join(folder, 'link');
    await symlink(checkout, at);
    expect(await paths('Content/Maps/*.umap', { at })).toEqual(['Content/Maps/Arena.umap']);
    expect(await paths('Content/Maps/*.umap', { at: `${at}/` })).toEqual(['Content/Maps/Arena.umap']);
  });

  test('may have characters of a pattern', async () => {
    const at = join(folder, 'we[i]rd *');
    await mkdir(at);
    await writeFile(join(at, 'a.txt'), '');
    expect(await paths('*.txt', { at })).toEqual(['a.txt']);
  });

  test('may be a place that is not there', async () => {
    expect(await problems('*.txt', { at: join(folder, 'missing') })).toHaveLength(1);
  });
});

test('ten thousand files are a matter of seconds', async () => {
  const at = join(folder, 'many');
  await mkdir(join(at, '0'), { recursive: true });
  const names = Array.from({ length: 1_000 }, (_, number) => `${String(number).padStart(4, '0')}.umap`);
  await Promise.all(names.map((name) => writeFile(join(at, '0', name), '')));
  // Links to the same folder: to create so many files would take longer than all the rest.
  const folders = Array.from({ length: 10 }, (_, number) => String(number));
  for (const name of folders.slice(1)) await symlink('0', join(at, name));
  const started = performance.now();
  const lines = [...folders.map((name) => `${name}/*.umap`), '!**/*5.umap', '!no/**'];
  expect(await paths(lines.join('\n'), { at })).toEqual(
    folders.flatMap((name) => names.filter((file) => !file.endsWith('5.umap')).map((file) => `${name}/${file}`)),
  );
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('whatever the lines are, a path that comes out of them is in the one form that locks have', async () => {
  const segment = fc.constantFrom(
    'a',
    '..',
    '.',
    '',
    'Content',
    'Maps',
    '*',
    '**',
    'Rock[1].fbx',
    'é',
    'e\u0301',
    '!',
    'C:',
  );
  const line = fc
    .array(segment, { minLength: 1, maxLength: 5 })
    .chain((all) => fc.constantFrom(all.join('/'), all.join('\\')));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), fc.boolean(), async (lines, glob) => {
      const loaded = loadStep(rightStep('lock', { path: lines.join('\n'), glob: String(glob) }));
      if (!loaded.ok || loaded.inputs.task.operation !== 'lock') return;
      const resolved = await resolvePaths(loaded.inputs.task.paths, { checkout }).catch((error: unknown) => {
        expect(problemsIn(error)).not.toEqual([]);
        return undefined;
      });
      if (resolved === undefined) return;
      expect(resolved.length).toBeGreaterThan(0);
      expect(new Set(resolved.map(({ path }) => path)).size).toBe(resolved.length);
      for (const { path } of resolved) {
        expect(path).toBe(path.normalize('NFC'));
        expect(path.split('/')).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(\.\.?)?$/)]));
        expect(path).not.toContain('\\');
      }
    }),
    { numRuns: 200 },
  );
});
