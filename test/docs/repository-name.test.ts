import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ourAction, ourVersion } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders with text that people read, copy or run; another test checks the workflows. */
const places = ['docs', 'scripts', 'deploy', 'src', '.ci'];
const text = /\.(md|ts|json|ya?ml)$|\/[\w-]+$|file$/i;

async function files(): Promise<readonly string[]> {
  const nested = await Promise.all(
    places.map(async (place) =>
      (await readdir(`${root}${place}`, { recursive: true })).map((name) => `${place}/${name}`),
    ),
  );
  return [...(await readdir(root)), ...nested.flat()].filter((name) => text.test(name)).toSorted();
}

/** A mention in a URL, an argument, or `uses:`, each with the text that follows it. */
const mention =
  /(?:(?:github\.com|ghcr\.io)\/|--repo )([^\s/]+\/workspace-automation)(\S*)|([^\s/'`]+\/workspace-automation)((?:\/\.github\/workflows\/[\w.-]+)?@[\w.-]+)/g;

test('every mention of the repository has the name in package.json, and a version that exists', async () => {
  const named = new Set<string>();
  for (const file of await files()) {
    const content = await readFile(`${root}${file}`, 'utf8').catch(() => '');
    expect(content, file).not.toContain('<owner>');
    for (const [, address, , action, version] of content.matchAll(mention)) {
      named.add(file);
      expect(address ?? action, file).toBe(ourAction);
      if (version !== undefined) expect(version, file).toMatch(new RegExp(`^(/.+\\.yml)?@${ourVersion}$`));
    }
  }
  expect([...named]).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'deploy/Dockerfile', 'docs/recipes.md']),
  );
});
