import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const readmeFile = fileURLToPath(new URL('../../README.md', import.meta.url));

export const readme = await readFile(readmeFile, 'utf8');

/** Who publishes the action is not known to it: what the README writes instead. */
export const ourAction = '<owner>/workspace-automation';

export interface Section {
  readonly title: string;
  /** From below its title to the next one, of whatever level. */
  readonly text: string;
}

/** A line of a snippet that begins with `#` is no title. */
export function sectionsIn(markdown: string): readonly Section[] {
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

export const sections = sectionsIn(readme);

export function section(title: string): Section {
  const found = sections.find((each) => each.title === title);
  if (found === undefined) throw new Error(`README.md has no section "${title}".`);
  return found;
}

/** The snippets of a language in a section, in their order. */
export const snippets = ({ text }: Section, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, snippet = '']) => snippet);

/** The rows of the table of a section whose first column has this head. */
export function tableRows({ title, text }: Section, head: string): readonly (readonly string[])[] {
  const table = text.split('\n\n').find((block) => block.trimStart().startsWith(`| ${head} |`));
  if (table === undefined) throw new Error(`The section "${title}" has no table with the head "${head}".`);
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.replaceAll(/^\| | \|$/g, '').split(' | '));
}

/** The texts of a cell that are written as code. */
export const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The snippets that a workflow can be made of, each with where it stands. */
export const workflows = sections.flatMap((each) =>
  snippets(each, 'yaml').map((content, index, all) => ({
    name: all.length === 1 ? each.title : `${each.title}, ${index + 1}`,
    content,
  })),
);

export function workflow(name: string): string {
  const found = workflows.find((each) => each.name === name);
  if (found === undefined) throw new Error(`README.md has no workflow "${name}".`);
  return found.content;
}
