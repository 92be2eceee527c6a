import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');

interface Report {
  readonly diagnostics: readonly {
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

/** The lines in which the linter, with our configuration, finds something, as `file:line`. */
function lint(files: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> {
  const folder = mkdtempSync(join(tmpdir(), 'walls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['biome.json', '.gitignore', '.ci/literal-imports.grit'])
    cpSync(join(root, name), join(folder, name));
  for (const [file, lines] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), `${lines.join('\n')}\n`);
  }
  const options = ['--error-on-warnings', '--max-diagnostics=none', '--reporter=json'];
  const { stdout } = spawnSync(process.execPath, [biome, 'lint', ...options, '.'], { cwd: folder, encoding: 'utf8' });
  const { diagnostics }: Report = JSON.parse(stdout);
  return new Set(diagnostics.map(({ location: { path, start } }) => `${path}:${start.line}`));
}

/** What must not be imported, by the file that would. */
const crossings: Readonly<Record<string, readonly string[]>> = {
  'src/interface/x.ts': ['node:fs', 'zod', '../client/x.ts', './../action/x.ts', '/src/service/x.ts'],
  'src/client/deep/x.ts': ['../../action/x.ts', '../../service/x.ts', '@actions/core', '@actions/github', '#client'],
  'src/action/x.ts': ['../service/x.ts', '../../src/service/x.ts', '@actions/core', 'workspace-automation'],
  'src/action/main.ts': ['../service/x.ts', '#service/x'],
  'src/service/http/x.ts': ['../../action/x.ts', '../../client/x.ts', '@actions/core', '@actions/http-client'],
  'demo/terminal/x.ts': ['../../src/service/x.ts', '../../src/action/x.ts', '../../src/client/x.ts'],
};

const permitted: Readonly<Record<string, readonly string[]>> = {
  'src/interface/x.ts': ['./ttl.ts'],
  'src/client/deep/x.ts': ['../../interface/ttl.ts', '../x.ts', 'node:http', '@actions/http-client'],
  'src/action/x.ts': ['../interface/ttl.ts', '../client/x.ts', './main.ts', '@actions/github', 'node:fs'],
  'src/action/main.ts': ['@actions/core', '../client/x.ts', './report/x.ts'],
  'src/service/http/x.ts': ['../../interface/ttl.ts', '../storage/x.ts', 'hono', '@hono/zod-openapi', 'node:fs'],
  'demo/terminal/x.ts': ['../../src/interface/ttl.ts', '../service.ts', 'standardwebhooks'],
};

const importing = (name: string, index: number): readonly string[] => [
  `export type { A as A${index} } from '${name}';`,
  `export const b${index} = await import('${name}');`,
];

/** The ways that a rule about names cannot see through. */
const hidden = [
  'export const a = await import(`../service/x.ts`);',
  "export const b = await import('../service' + '/x.ts');",
  "const name = '../service/x.ts'; export const c = await import(name);",
  "export type D = import('../service/x.ts').D;",
  "export const e = require('../service/x.ts');",
];

test('an import across a wall between the parts is found, and no other is', () => {
  const imports = (of: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(of).map(([file, names]) => [file, names.flatMap(importing)]));
  const hidingFiles = ['interface', 'client', 'action', 'service'].map((part) => `src/${part}/hiding.ts`);
  const wrong = { ...imports(crossings), ...Object.fromEntries(hidingFiles.map((file) => [file, hidden])) };
  const expected = Object.entries(wrong).flatMap(([file, lines]) => lines.map((_, index) => `${file}:${index + 1}`));
  expect([...lint(wrong)].toSorted()).toEqual(expected.toSorted());
  expect([...lint(imports(permitted))]).toEqual([]);
});

test('the linter is nowhere told to look away from the walls', () => {
  for (const name of globSync('src/**/*.ts', { cwd: root })) {
    for (const [, rule] of readFileSync(join(root, name), 'utf8').matchAll(/biome-ignore\S*\s+([^\s:]+)/g)) {
      expect(rule, name).not.toMatch(/^lint(\/plugin.*|\/style(\/(noRestrictedImports|noCommonJs))?)?$/);
    }
  }
});
