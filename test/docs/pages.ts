import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { commandFile } from '../support/service-process.ts';

const root = new URL('../../', import.meta.url);
export const docs = new URL('docs/', root);
export const deploy = new URL('deploy/', root);

export interface Section {
  readonly title: string;
  /** The text between this title and the next one of any level. */
  readonly text: string;
}

export interface Page {
  readonly name: string;
  readonly url: URL;
  readonly text: string;
  readonly sections: readonly Section[];
}

/** In snippets, a line that starts with `#` is not a title. */
function sectionsIn(markdown: string): readonly Section[] {
  const sections: { title: string; lines: string[] }[] = [];
  let inSnippet = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) inSnippet = !inSnippet;
    const [, title] = inSnippet ? [] : (/^#+ (.+)$/.exec(line) ?? []);
    if (title !== undefined) sections.push({ title, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join('\n') }));
}

/** Reads a page by its path in the repository. */
export async function readPage(path: string): Promise<Page> {
  const url = new URL(path, root);
  const text = await readFile(url, 'utf8');
  return { name: basename(path), url, text, sections: sectionsIn(text) };
}

export const readme = await readPage('README.md');
export const recipes = await readPage('docs/recipes.md');
export const actionPage = await readPage('docs/action.md');
export const interfacePage = await readPage('docs/interface.md');
export const selfHosting = await readPage('docs/self-hosting.md');

async function pagesIn(folder: string): Promise<readonly Page[]> {
  const names = await readdir(new URL(folder, root));
  return Promise.all(names.filter((name) => name.endsWith('.md')).map((name) => readPage(`${folder}${name}`)));
}

export const pages = [...(await pagesIn('./')), ...(await pagesIn('docs/'))];

export function section({ name, sections }: Page, title: string): Section {
  const found = sections.find((each) => each.title === title);
  if (found === undefined) throw new Error(`${name} has no section "${title}".`);
  return found;
}

/** The snippets in a language, in their order. */
export const snippets = ({ text }: Page | Section, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, snippet = '']) => snippet);

/** The only snippet that contains this text. */
export function snippetWith(page: Page, words: string): string {
  const [found, ...more] = snippets(page, '\\w+').filter((text) => text.includes(words));
  if (found === undefined || more.length > 0) {
    throw new Error(`${page.name} has ${more.length === 0 ? 'no' : 'more than one'} snippet with "${words}".`);
  }
  return found;
}

/** Tests run as one user and without systemd: these stand-ins skip the user switch, and print systemctl commands. */
const standIns = `
sudo() { while [[ $1 == --* ]]; do shift; done; "$@"; }
systemctl() { echo "systemctl $*"; }
`;

export interface ShellOptions {
  /** Replacements for paths and names that differ in a test. */
  readonly replaced?: Readonly<Record<string, string>>;
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs a snippet as if pasted into a shell, but stops at the first command that fails. */
export async function runSnippet(snippet: string, { replaced = {}, environment, cwd }: ShellOptions): Promise<string> {
  const script = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), snippet);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', standIns + script], {
    env: { PATH: process.env['PATH'], ...environment },
    cwd,
    timeout: 60_000,
  });
  return stdout;
}

/** Puts the command into a folder by its name, and returns its path. */
export async function installCommand(folder: string): Promise<string> {
  const file = join(folder, 'workspace-service');
  await mkdir(folder, { recursive: true });
  await writeFile(file, `#!/bin/sh\nexec '${process.execPath}' '${commandFile}' "$@"\n`, { mode: 0o755 });
  return file;
}

/** The rows of the table in this section whose first column has this head. */
export function tableRows({ title, text }: Section, head: string): readonly (readonly string[])[] {
  const table = text.split('\n\n').find((block) => block.trimStart().startsWith(`| ${head} |`));
  if (table === undefined) throw new Error(`The section "${title}" has no table with the head "${head}".`);
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.replaceAll(/^\| | \|$/g, '').split(' | '));
}

/** The inline code, outside of snippets. */
export const codeIn = (text: string): readonly string[] =>
  [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** Reads a file of `deploy`. */
export const shipped = (path: string): Promise<string> => readFile(new URL(path, deploy), 'utf8');

const { repository } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));

/** The name of the action in `uses:`. */
export const ourAction: string =
  /^git\+https:\/\/github\.com\/([\w.-]+\/[\w.-]+)\.git$/.exec(repository.url)?.[1] ?? '';

/** The version for workflows: the tag of the latest release, or `main` before the first. */
export const ourVersion = await readFile(new URL('CHANGELOG.md', root), 'utf8').then((changelog) => {
  const [, version] = /^## \[([1-9]\d*\.\d+\.\d+)\]/m.exec(changelog) ?? [];
  return version === undefined ? 'main' : `v${version}`;
});

/** The workflows of the pages, each with the title of its section. */
export const workflows = [readme, recipes].flatMap(({ sections }) =>
  sections.flatMap((each) =>
    snippets(each, 'yaml')
      .filter((content) => /^jobs:/m.test(content))
      .map((content, index, all) => ({
        name: all.length === 1 ? each.title : `${each.title}, ${index + 1}`,
        content,
      })),
  ),
);

export function workflow(name: string): string {
  const found = workflows.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No page has a workflow "${name}".`);
  return found.content;
}
