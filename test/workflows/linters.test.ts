import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { pages } from '../docs/pages.ts';
import { findingsIn } from '../support/language-service.ts';
import { leaveOut } from '../support/left-out.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type TextFile, templates, workflows } from './our-workflows.ts';

const root = dirname(ourActionFile);
const tools = join(root, '.linters');

/** The output of a linter that found something, or an empty text. */
function lint(tool: string, folder: string, ...args: readonly string[]): string {
  try {
    execFileSync(join(tools, tool), args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) return String(error.stdout);
    throw error;
  }
}

// Without shellcheck and pyflakes, which only some machines have.
const actionlint = (folder: string): string => lint('actionlint', folder, '-no-color', '-shellcheck=', '-pyflakes=');
const zizmor = (folder: string, ...inputs: readonly string[]): string =>
  lint('zizmor', folder, '--offline', '--pedantic', '--strict-collection', '--no-progress', '--quiet', ...inputs);

const head = 'name: Example\non: push\npermissions: {}\n';
const step = '    steps:\n      - run: make\n';
const job = `${head}jobs:\n  a:\n    runs-on: ubuntu-latest\n`;

/** A complete workflow, or a fragment of one with what it leaves out. */
function asWorkflow(snippet: string): string | undefined {
  if (/^on:/m.test(snippet)) return snippet;
  if (snippet.startsWith('jobs:\n')) return `${head}${snippet}${step}`;
  if (snippet.startsWith('env:\n')) return `${job}${snippet.replaceAll(/^/gm, '    ').trimEnd()}\n${step}`;
  return /^ +uses:/m.test(snippet) ? `${job}    steps:\n${snippet}` : undefined;
}

/** The YAML blocks of a page, also those within a list. */
const yamlIn = (text: string): readonly string[] =>
  [...text.matchAll(/^( *)```ya?ml\n(.*?)^ *```$/gms)].map(([, indent, block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );

const blocks = pages.flatMap(({ name, text }) =>
  yamlIn(text).map((block, index) => ({ name: `${name}-${index + 1}.yml`, text: asWorkflow(block) })),
);
const examples = blocks.flatMap(({ name, text }): TextFile[] => (text === undefined ? [] : [{ name, text }]));

async function repositoryWith(files: readonly TextFile[]): Promise<string> {
  const folder = temporaryFolder();
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  await mkdir(join(folder, '.github/workflows'), { recursive: true });
  for (const { name, text } of files) await writeFile(join(folder, '.github/workflows', name), text);
  for (const name of ['actionlint.yaml', 'zizmor.yml']) {
    await copyFile(join(import.meta.dirname, 'linters', name), join(folder, '.github', name));
  }
  return folder;
}

test('every YAML block of the pages is linted, except those of other products', () => {
  expect(blocks.flatMap(({ name, text }) => (text === undefined ? [name] : []))).toEqual([
    'identity.md-2.yml', // GitLab
    'identity.md-3.yml', // Buildkite
    'runners.md-2.yml', // GitLab
    'runners.md-3.yml', // Buildkite
    'runners.md-4.yml', // Tekton and Argo
  ]);
});

test.each(workflows)('the language service accepts $name', async ({ name, text }) => {
  expect(await findingsIn(`.github/workflows/${name}`, text)).toEqual([]);
});

describe('the linters', () => {
  beforeEach((context) => {
    if (!existsSync(join(tools, 'zizmor'))) {
      leaveOut(context, 'The linters of workflows are not installed: run .ci/linters, which needs Go and Python.');
    }
  });

  test('accept the workflows of this repository', () => {
    expect(actionlint(root)).toBe('');
    expect(zizmor(root, '.github', 'action.yml', 'dist/action.yml')).toBe('');
  });

  test('accept the templates and the workflows of the pages', async () => {
    const folder = await repositoryWith([...examples, ...templates]);
    expect(actionlint(folder)).toBe('');
    expect(zizmor(folder, '.')).toBe('');
    expect(examples.length).toBeGreaterThan(10);
  });
});
