import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGit } from '../../src/service/git/git.ts';
import { temporaryFolder } from '../support/git-folders.ts';
import { startGitHttpsServer } from '../support/git-https-server.ts';
import { createRepository, manyCommits } from '../support/git-repository.ts';
import { enoughTime, operatorEnvironment, remoteAt } from '../support/git-service.ts';

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

test('git finds a password in ~/.netrc, as self-hosting.md says', async () => {
  const folder = await temporaryFolder();
  const home = await temporaryFolder();
  createRepository(folder, 'game.git').commit(...manyCommits(1));
  const server = await startGitHttpsServer({
    folder,
    answer(request, response) {
      if (request.headers.authorization === basic('mirror', 'pass-word')) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return true;
    },
  });
  const remote = remoteAt(server.address('game.git'));
  const git = createGit({
    dataFolder: join(home, 'data'),
    allowFile: false,
    environment: operatorEnvironment(home, { GIT_SSL_CAINFO: server.certificate }),
  });
  await expect(git.branches(remote, enoughTime)).rejects.toThrow();
  await writeFile(join(home, '.netrc'), 'machine 127.0.0.1 login mirror password pass-word\n');
  await chmod(join(home, '.netrc'), 0o600);
  expect((await git.branches(remote, enoughTime)).branches.size).toBeGreaterThan(0);
});
