import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Declared {
  readonly name: string;
  readonly isFunction: boolean;
  readonly exported: boolean;
  /** The names that it mentions, other than those of properties. */
  readonly mentions: ReadonlySet<string>;
}

const isNode = (value: unknown): value is { readonly type: string } & Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function mentionsIn(node: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(node)) for (const part of node) mentionsIn(part, names);
  if (!isNode(node)) return names;
  if (node.type === 'Identifier') names.add(String(node['name']));
  for (const [key, part] of Object.entries(node)) {
    const isProperty = (key === 'property' || key === 'key') && node['computed'] === false;
    if (!isProperty) mentionsIn(part, names);
  }
  return names;
}

/** The declarations at the top level of a file, in order. */
function declaredIn(file: string, source: string): readonly Declared[] {
  return parseSync(file, source).program.body.flatMap((statement): readonly Declared[] => {
    const exported = statement.type === 'ExportNamedDeclaration';
    const declaration = exported ? statement.declaration : statement;
    if (declaration?.type === 'FunctionDeclaration')
      return [{ name: declaration.id?.name ?? '', isFunction: true, exported, mentions: mentionsIn(declaration.body) }];
    if (declaration?.type !== 'VariableDeclaration') return [];
    return declaration.declarations.map(({ id, init }) => ({
      name: id.type === 'Identifier' ? id.name : '',
      isFunction: init?.type === 'ArrowFunctionExpression',
      exported,
      mentions: mentionsIn(init),
    }));
  });
}

/** Functions that stand above one that calls them, and a first function that is not exported although another is. */
function misplacedIn(file: string, source: string): readonly string[] {
  const declared = declaredIn(file, source);
  const atLoad = new Set(declared.flatMap(({ isFunction, mentions }) => (isFunction ? [] : [...mentions])));
  // An arrow function that makes a value while the file is loaded has to stand above that value.
  const functions = declared.filter(({ isFunction, name }) => isFunction && !atLoad.has(name));
  function leadsTo(from: Declared, to: Declared, seen = new Set<Declared>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return functions.some((next) => from.mentions.has(next.name) && leadsTo(next, to, seen));
  }
  const upsideDown = functions.flatMap((callee, place) =>
    functions
      .slice(place + 1)
      .filter((caller) => !callee.exported && caller.mentions.has(callee.name) && !leadsTo(callee, caller))
      .map((caller) => `${file}: ${callee.name}() stands above ${caller.name}(), which calls it`),
  );
  const [first] = functions;
  const hidesEntry = first?.exported === false && functions.some(({ exported }) => exported);
  return hidesEntry ? [...upsideDown, `${file}: ${first.name}() stands first and is not exported`] : upsideDown;
}

test('a function that stands above its caller is found, and a first one that is not exported', () => {
  const upsideDown = 'const help = () => 1;\nexport function entry() { return help(); }\n';
  expect(misplacedIn('a.ts', upsideDown)).toEqual([
    'a.ts: help() stands above entry(), which calls it',
    'a.ts: help() stands first and is not exported',
  ]);
  const inOrder =
    'export function entry() { return help(); }\nfunction help() { return again(); }\nfunction again() { return help(); }\n';
  expect(misplacedIn('b.ts', inOrder)).toEqual([]);
});

test('the entry of each file stands first, and the functions that it calls below it', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap((file) => misplacedIn(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
