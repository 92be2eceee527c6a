import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { readOnly } from '../command/run-main.ts';
import { codeIn, ourAction, type Page, pages, readme, readPage, snippets } from './pages.ts';

const rootUrl = new URL('../../', import.meta.url).href;

const anchorsOf = ({ sections }: Page): readonly string[] =>
  sections.map(({ title }) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** Relative links can also lead to pages of GitHub that are not files. */
const isOfGitHub = (link: string): boolean => link.startsWith('../../security/');

/** URLs of this repository lead to files of this checkout. */
const ownFiles = new RegExp(
  `^https://(?:github\\.com/${ourAction}/blob|raw\\.githubusercontent\\.com/${ourAction})/main/`,
);
const links = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)$|(?:src|srcset)="([^"]+)"/gm)].map(
    ([, inline, reference, picture]) => inline ?? reference ?? picture ?? '',
  );

describe.each(pages)('$name', (page) => {
  test('has only links to targets and anchors that exist', async () => {
    const local = links(page.text).map((link) => link.replace(ownFiles, rootUrl));
    for (const link of local.filter((each) => !/^https?:/.test(each) && !isOfGitHub(each))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page.url : new URL(path, page.url);
      await access(target);
      if (anchor !== undefined) expect(anchorsOf(await readPage(target.href)), link).toContain(anchor);
    }
  });

  test('has only shell snippets that bash can parse', async () => {
    for (const text of snippets(page, 'sh')) await promisify(execFile)('bash', ['-n', '-c', text]);
  });

  test('has only YAML that can be parsed', () => {
    for (const text of snippets(page, 'yaml')) expect(parseDocument(text, { stringKeys: true }).errors).toEqual([]);
  });

  test('names only npm scripts that exist', async () => {
    const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    const named = [...page.text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
  });

  test('shows only command lines that the command accepts', async () => {
    const scripts = snippets(page, 'sh').flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n'));
    const lines = [...scripts, ...codeIn(page.text)]
      .map((line) => line.replace(/^npx /, '').replace(/( >\S+ 2>&1)? &$/, ''))
      .filter((line) => line.startsWith('workspace-service '));
    const remote = { WORKSPACE_SERVICE_REMOTE: 'https://ada:password@git.example.com/game.git' };
    // Users who take locks do not work on the machine of the service.
    const address = page.name === 'artists.md' && { WORKSPACE_BASE_URL: 'https://assets.example.com/v1' };
    for (const line of lines) {
      const environment = { ...remote, ...address };
      const { code, stderr } = await readOnly(line.split(' ').slice(1), environment);
      expect({ code, stderr }, line).toEqual({ code: 0, stderr: '' });
    }
  });
});

test('the README has at most 1,200 words, and it and docs/ at most 15,000, as `wc -w` counts them', () => {
  const words = ({ text }: Page): number => text.trim().split(/\s+/).length;
  const inDocs = pages.filter(({ url }) => url.href.startsWith(`${rootUrl}docs/`));
  expect(words(readme)).toBeLessThanOrEqual(1_200);
  expect([readme, ...inDocs].map(words).reduce((sum, each) => sum + each)).toBeLessThanOrEqual(15_000);
});

// The Marketplace and npm show the README, but no other file.
test('the README has only absolute links, and links to its own sections', () => {
  const relative = links(readme.text).filter((link) => !/^(https:|#)/.test(link));
  expect(relative).toEqual([]);
  const named = [...readme.text.matchAll(/\]\[([\w-]+)\]/g)].map(([, name = '']) => name);
  const defined = [...readme.text.matchAll(/^\[([\w-]+)\]: /gm)].map(([, name = '']) => name);
  expect([...new Set(named)].toSorted()).toEqual(defined.toSorted());
});

// Elsewhere, npx would run a stranger's package of this name.
test('only the README uses npx, and there in a clone', () => {
  const pagesWithNpx = pages.filter(({ text }) => text.includes('npx workspace-service'));
  expect(pagesWithNpx.map(({ name }) => name)).toEqual(['README.md']);
});
