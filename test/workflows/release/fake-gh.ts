import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function fakeGh(folder: string) {
  const bin = join(folder, 'bin');
  const state = join(folder, 'state');
  for (const each of [bin, state]) mkdirSync(each, { recursive: true });
  cpSync(fileURLToPath(new URL('fake-gh.bash', import.meta.url)), join(bin, 'gh'));
  const write = (name: string, text: string): void => writeFileSync(join(state, name), `${text}\n`);
  write('immutable-releases', 'true');

  const read = (name: string): string => readFileSync(join(state, name), 'utf8').trimEnd();
  const releases = join(state, 'releases');
  /** The result of `gh release view`, and the names of the files. */
  const release = (tag: string) => ({
    draft: read(`releases/${tag}/draft`) === 'true',
    prerelease: read(`releases/${tag}/prerelease`) === 'true',
    immutable: read(`releases/${tag}/immutable`) === 'true',
    notes: read(`releases/${tag}/notes`),
    assets: readdirSync(join(releases, tag, 'assets')),
  });
  return {
    bin,
    /** Environment for the steps of a job. */
    environment: { FAKE_GH: state },
    releases: () =>
      Object.fromEntries((existsSync(releases) ? readdirSync(releases) : []).map((tag) => [tag, release(tag)])),
    /** As a person does on the page of the draft. */
    publishByHand(tag: string): void {
      write(`releases/${tag}/draft`, 'false');
      write(`releases/${tag}/immutable`, read('immutable-releases'));
    },
    /** The tag of the latest release; null if there is none. */
    latest: () => (existsSync(join(state, 'latest')) ? read('latest') : null),
    asset: (tag: string, name: string) => readFileSync(join(releases, tag, 'assets', name)),
    replaceAsset: (tag: string, name: string, content: Buffer) =>
      writeFileSync(join(releases, tag, 'assets', name), content),
    /** Lets the next command with these words fail, as if GitHub were unreachable. */
    failOnce: (words: string) => write('fails-once', words),
  };
}
