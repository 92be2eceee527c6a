import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitAt, manyCommits } from '../../support/git-repository.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { gitClient, mirrored } from './mirror-of.ts';

const service = sharedService();
const folder = folderOfTests();

async function syncedMirror() {
  const mirror = await mirrored(service, folder, service.secret);
  mirror.remote.commit(...manyCommits(40), { branch: 'release/1.0', from: 'main', files: { only: 'here' } });
  await mirror.sync();
  await mirror.sync('release/1.0');
  return { ...mirror, client: await gitClient() };
}

const everything = (repository: string): string =>
  gitAt(repository, 'rev-list', '--all', '--objects', '--no-object-names');
const sorted = (lines: string): readonly string[] => lines.split('\n').toSorted();

test('a clone equals the remote, object by object', async () => {
  const { remote, url, client } = await syncedMirror();
  await client.git('-c', 'protocol.version=2', 'clone', '--quiet', url, 'game');
  const clone = join(client.folder, 'game');
  for (const branch of ['main', 'release/1.0']) {
    expect(gitAt(clone, 'rev-parse', `origin/${branch}`).trim()).toBe(remote.head(branch));
    expect(gitAt(clone, 'ls-tree', '-r', `origin/${branch}`)).toBe(remote.git('ls-tree', '-r', branch));
  }
  expect(gitAt(clone, 'symbolic-ref', 'refs/remotes/origin/HEAD').trim()).toBe('refs/remotes/origin/main');
  expect(sorted(everything(clone))).toEqual(sorted(everything(remote.path)));
  gitAt(clone, 'fsck', '--full', '--strict');
  expect(gitAt(clone, 'status', '--porcelain')).toBe('');
});

const countIn = (repository: string, ...revisions: readonly string[]): number =>
  Number(gitAt(repository, 'rev-list', '--count', ...revisions));

test('a shallow clone has the requested number of commits, and can be deepened to all of them', async () => {
  const { remote, url, client } = await syncedMirror();
  await client.git('clone', '--quiet', '--depth=3', url, 'game');
  const clone = join(client.folder, 'game');
  expect(countIn(clone, 'HEAD')).toBe(3);
  await client.git('-C', 'game', 'fetch', '--quiet', '--deepen=4');
  expect(countIn(clone, 'HEAD')).toBe(7);
  await client.git('-C', 'game', 'fetch', '--quiet', '--unshallow');
  expect(countIn(clone, 'HEAD')).toBe(countIn(remote.path, 'main'));
  gitAt(clone, 'fsck', '--full', '--strict');
});

test('a partial clone becomes a complete one', async () => {
  const { remote, url, client } = await syncedMirror();
  await client.git('clone', '--quiet', '--filter=blob:none', '--no-checkout', url, 'game');
  expect(sorted(everything(join(client.folder, 'game')))).toEqual(sorted(everything(remote.path)));
});

test('actions/checkout fetches from the mirror if git maps the URL of the repository to the mirror', async () => {
  const { remote, url, client, path } = await syncedMirror();
  const address = service.baseUrl + path;
  await client.settings(
    `[url "${address}"]\n insteadOf = https://github.com/octo-games/dragon\n[http "${service.baseUrl}/"]\n extraHeader = Authorization: Bearer ${new URL(url).password}\n`,
  );
  // The commands that it runs: https://github.com/actions/checkout/blob/v4/src/git-source-provider.ts
  const commit = remote.git('rev-parse', 'main~3').trim();
  await client.git('init', '--quiet', 'game');
  const git = (...args: readonly string[]) => client.git('-C', 'game', ...args);
  await git('remote', 'add', 'origin', 'https://github.com/octo-games/dragon');
  await git(
    'config',
    '--local',
    'http.https://github.com/.extraheader',
    `AUTHORIZATION: basic ${btoa('x-access-token:a')}`,
  );
  const options = ['--no-tags', '--prune', '--no-recurse-submodules', '--depth=1'];
  await git('-c', 'protocol.version=2', 'fetch', ...options, 'origin', `+${commit}:refs/remotes/origin/main`);
  await git('checkout', '--quiet', '--force', '-B', 'main', 'refs/remotes/origin/main');
  expect(await git('rev-parse', 'HEAD')).toBe(`${commit}\n`);
});
