import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');

interface Line {
  readonly file: string;
  readonly code: string;
}

interface Report {
  readonly diagnostics: readonly {
    readonly message: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

interface Outcome {
  readonly passed: boolean;
  messagesOn(line: Line): string[];
}

/** What the linter says, with our configuration, of a project that is made of these lines. */
function lint(lines: readonly Line[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'walls-'));
  try {
    for (const name of ['biome.json', '.gitignore', '.ci/literal-imports.grit'])
      cpSync(join(root, name), join(folder, name));
    const files = Map.groupBy(lines, ({ file }) => file);
    for (const [file, its] of files) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), its.map(({ code }) => `${code}\n`).join(''));
    }
    const run = spawnSync(
      process.execPath,
      [biome, 'lint', '--error-on-warnings', '--max-diagnostics=none', '--reporter=json', '.'],
      { cwd: folder, encoding: 'utf8' },
    );
    const { diagnostics }: Report = JSON.parse(run.stdout);
    return {
      passed: run.status === 0,
      messagesOn: (line) => {
        const number = (files.get(line.file) ?? []).indexOf(line) + 1;
        return diagnostics
          .filter(({ location }) => location.path === line.file && location.start.line === number)
          .map(({ message }) => message);
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pure = 'src/interface is pure: it imports nothing but itself.';
const onlyInterface = 'src/client knows only src/interface.';
const noGitHub = 'src/client knows nothing of GitHub.';
const noService = 'The action never imports the service.';
const onlyReporting = 'Only the entry files and the reporting touch @actions/core.';
const noAction = 'The service never imports the action, nor its client.';
const ourFiles = 'Write where a file of ours lies: ./ or ../ and its name.';
const onlyBuilt = 'The demo runs what is built: of src it knows only src/interface.';
const plainName = 'import() takes a name in plain quotes, so that the walls can read it.';
const noTypeImport = 'Write a type as an import declaration, so that the walls can read it.';
const noRequire = 'Use ESM imports instead of require.';

interface Wall {
  readonly message: string;
  readonly files: readonly string[];
  readonly names: readonly string[];
}

const walls: readonly Wall[] = [
  {
    message: pure,
    files: ['src/interface/x.ts'],
    names: [
      'node:fs',
      'fs',
      'zod',
      '@hono/zod-openapi',
      '@actions/core',
      '#client',
      'workspace-automation',
      '..',
      './..',
      '../index.ts',
      '../client/x.ts',
      '../action/x.ts',
      '../service/x.ts',
      './../client/x.ts',
      './deeper/../../client/x.ts',
      '../../src/client/x.ts',
      '/src/client/x.ts',
      'file:///src/client/x.ts',
      'data:text/javascript,1',
    ],
  },
  {
    message: onlyInterface,
    files: ['src/client/x.ts', 'src/client/deep/x.ts'],
    names: [
      '../action',
      '../action/',
      '../action/x.ts',
      '../../action/report/x.ts',
      '../service',
      '../service/',
      '../service/x.ts',
      '../../service/storage/x.ts',
      './../service/x.ts',
      '../../src/service/x.ts',
      '../../../src/service/x.ts',
      '../../build/service/x.js',
      '../interface/../service/x.ts',
      '/src/service/x.ts',
      'file:///src/service/x.ts',
    ],
  },
  {
    message: noGitHub,
    files: ['src/client/x.ts', 'src/client/deep/x.ts'],
    names: [
      '@actions/core',
      '@actions/core/lib/core.js',
      '@actions/github',
      '@actions/github/lib/utils.js',
      '@actions/io',
    ],
  },
  {
    message: noService,
    files: ['src/action/x.ts', 'src/action/main.ts', 'src/action/post.ts', 'src/action/report/x.ts'],
    names: [
      '../service',
      '../service/',
      '../service/x.ts',
      '../../service/x.ts',
      '../../src/service/x.ts',
      './../service/x.ts',
    ],
  },
  {
    message: onlyReporting,
    files: ['src/action/x.ts', 'src/action/lock/main.ts', 'src/action/lock/report/x.ts'],
    names: ['@actions/core', '@actions/core/lib/core.js'],
  },
  {
    message: noAction,
    files: ['src/service/x.ts', 'src/service/http/x.ts'],
    names: [
      '../action',
      '../action/',
      '../../action/x.ts',
      '../client',
      '../client/',
      '../../client/x.ts',
      './../client/x.ts',
      '../../src/client/x.ts',
      '@actions/core',
      '@actions/core/lib/core.js',
      '@actions/http-client',
    ],
  },
  {
    message: ourFiles,
    files: ['src/client/x.ts', 'src/action/x.ts', 'src/action/main.ts', 'src/service/x.ts'],
    names: ['#client', '#service/x', 'workspace-automation', 'workspace-automation/x'],
  },
  {
    message: onlyBuilt,
    files: ['demo/x.ts', 'demo/terminal/x.ts'],
    names: ['../src/service/x.ts', '../../src/action/x.ts', '../src/client/x.ts', '/src/service/x.ts'],
  },
];

/** The ways to import. The names in them differ, so that many fit into one file. */
const ways: readonly ((name: string, n: number) => string)[] = [
  (name) => `import '${name}';`,
  (name, n) => `import { a as a${n} } from '${name}';`,
  (name, n) => `import * as b${n} from '${name}';`,
  (name, n) => `import type { C as C${n} } from '${name}';`,
  (name, n) => `import d${n} = require('${name}');`,
  (name, n) => `export { e as e${n} } from '${name}';`,
  (name, n) => `export * as f${n} from '${name}';`,
  (name) => `export * from '${name}';`,
  (name, n) => `export type { G as G${n} } from '${name}';`,
  (name, n) => `export const h${n} = await import('${name}');`,
  (name, n) => `export const i${n} = import('${name}', { with: { type: 'json' } });`,
];

const crossings = walls.flatMap((wall) =>
  wall.files.flatMap((file) => wall.names.map((name) => ({ file, name, message: wall.message }))),
);

const crossingLines = crossings.map(({ file, name }, n) => ways.map((way): Line => ({ file, code: way(name, n) })));

describe('a crossed wall', () => {
  const outcome = lint(crossingLines.flat());

  test.each(crossings.map((crossing, n) => ({ ...crossing, lines: crossingLines[n] ?? [] })))(
    'is seen in $file when it imports $name, in every way to import',
    ({ lines, message }) => {
      expect(lines).toHaveLength(ways.length);
      for (const line of lines) expect(outcome.messagesOn(line), line.code).toContain(message);
    },
  );
});

/** The ways that a rule about names cannot see through. */
const hidden: readonly (readonly [code: string, message: string])[] = [
  ['export const a = await import(`../service/x.ts`);', plainName],
  ["export const b = await import('../service' + '/x.ts');", plainName],
  ["export const c = await import('../service'.concat('/x.ts'));", plainName],
  ["const name = '../service/x.ts'; export const d = await import(name);", plainName],
  ["export type E = import('../service/x.ts').E;", noTypeImport],
  ["export type F = typeof import('../service/x.ts');", noTypeImport],
  ["export const g = require('../service/x.ts');", noRequire],
];

describe('an import that the walls cannot read', () => {
  const folders = ['interface', 'client', 'action', 'service'];
  const lines = folders.flatMap((folder) =>
    hidden.map(([code, message]) => ({ line: { file: `src/${folder}/x.ts`, code }, code, message, folder })),
  );
  const outcome = lint(lines.map(({ line }) => line));

  test.each(lines)('is forbidden in src/$folder: $code', ({ line, message }) => {
    expect(outcome.messagesOn(line)).toContain(message);
  });
});

const permitted: readonly (readonly [file: string, names: readonly string[]])[] = [
  ['src/interface/x.ts', ['./ttl.ts']],
  ['src/client/x.ts', ['../interface/ttl.ts', './retry.ts', './service.ts', 'node:http', '@actions/http-client']],
  ['src/client/deep/x.ts', ['../../interface/ttl.ts', '../x.ts']],
  ['src/action/x.ts', ['../interface/ttl.ts', '../client/x.ts', './main.ts', '@actions/github', 'node:fs']],
  ['src/action/main.ts', ['@actions/core', '../client/x.ts', './report/x.ts']],
  ['src/action/post.ts', ['@actions/core', './service.ts']],
  ['src/action/report/x.ts', ['@actions/core', '../../interface/ttl.ts']],
  ['demo/x.ts', ['../src/interface/ttl.ts', './service.ts', '../test/support/runner/job.ts', 'standardwebhooks']],
  ['src/service/http/x.ts', ['../../interface/ttl.ts', '../storage/x.ts', 'hono', '@hono/zod-openapi', 'node:fs']],
];

describe('the check', () => {
  const allowed = permitted.flatMap(([file, names]) =>
    names.flatMap((name, n): Line[] => [
      { file, code: `export * as a${n} from '${name}';` },
      { file, code: `export const b${n} = await import('${name}');` },
      { file, code: `export const c${n} = import("${name}", { with: { type: 'json' } });` },
    ]),
  );

  test('passes what keeps to its side', () => {
    const outcome = lint(allowed);
    for (const line of allowed) expect(outcome.messagesOn(line), `${line.file}: ${line.code}`).toEqual([]);
    expect(outcome.passed).toBe(true);
  });

  test('fails for a single import across a wall', () => {
    expect(lint([...allowed, { file: 'src/client/y.ts', code: "export * from '../service/x.ts';" }]).passed).toBe(
      false,
    );
  });

  test('is nowhere told to look away', () => {
    const sources = globSync('src/**/*.ts', { cwd: root });
    expect(sources).not.toHaveLength(0);
    for (const name of sources) {
      const silenced = readFileSync(join(root, name), 'utf8').matchAll(/biome-ignore\S*\s+([^\s:]+)/g);
      for (const [, rule] of silenced) {
        expect(rule, name).not.toMatch(/^lint(\/plugin.*|\/style(\/(noRestrictedImports|noCommonJs))?)?$/);
      }
    }
  });
});
