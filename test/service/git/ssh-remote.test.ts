import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/git-folders.ts';
import { createRepository, manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, failureOf, gitIn, remoteAt } from '../../support/git-service.ts';
import { fakeSsh } from '../../support/git-ssh.ts';

const main = branchNamed('main');

async function setUp() {
  const folder = await temporaryFolder();
  const repository = createRepository(folder);
  repository.commit(...manyCommits(10));
  return { folder, repository };
}

describe('an ssh remote', () => {
  test.each([
    ['with the form of a URL', (path: string) => `ssh://git@example.com:2222${path}`],
    ['with the short form', (path: string) => `git@example.com:${path}`],
  ])('%s is listed, estimated and fetched', async (_, addressOf) => {
    const { folder, repository } = await setUp();
    const git = gitIn(join(folder, 'data'), { GIT_SSH_COMMAND: await fakeSsh(folder, 'operators-ssh') });
    const remote = remoteAt(addressOf(repository.path));
    expect([...(await git.branches(remote, enoughTime)).branches.keys()]).toEqual(['main']);
    const { objects } = await git.estimate('game', remote, main, enoughTime);
    expect(await git.fetch('game', remote, main, enoughTime)).toEqual({
      head: repository.head('main'),
      receivedObjects: objects,
    });
    expect(await readFile(join(folder, 'arguments'), 'utf8')).toContain('git@example.com');
  });

  test('is reached by an ssh that never asks, where the operator sets up none', async () => {
    const { folder, repository } = await setUp();
    await fakeSsh(folder, 'ssh');
    const git = gitIn(join(folder, 'data'), { PATH: `${folder}:${process.env['PATH']}` });
    await git.branches(remoteAt(`git@example.com:${repository.path}`), enoughTime);
    expect(await readFile(join(folder, 'arguments'), 'utf8')).toContain('BatchMode=yes');
  });

  test('that refuses the key is a failure in the words of ssh', async () => {
    const { folder, repository } = await setUp();
    const refuse = 'echo "git@example.com: Permission denied (publickey)." >&2; exit 255';
    const git = gitIn(join(folder, 'data'), { GIT_SSH_COMMAND: await fakeSsh(folder, 'ssh', refuse) });
    const failure = await failureOf(git.branches(remoteAt(`git@example.com:${repository.path}`), enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain('Permission denied (publickey)');
  });

  describe('that is slow', () => {
    const minSpeed = { bytesPerSecond: 1_024, forMs: 600 };

    async function fetchFrom(ssh: string) {
      const { folder, repository } = await setUp();
      const git = gitIn(join(folder, 'data'), { GIT_SSH_COMMAND: await fakeSsh(folder, 'ssh', ssh) }, minSpeed);
      return { repository, fetch: git.fetch('game', remoteAt(`git@example.com:${repository.path}`), main, enoughTime) };
    }

    test('beyond measure is left, long before its limit', async () => {
      // The length of a line, and then a byte of it now and then.
      const { fetch } = await fetchFrom(`printf 0fff; while printf x; do sleep 0.1; done`);
      const failure = await failureOf(fetch);
      expect(failure.kind).toBe('timeout');
      expect(failure.message).toContain('less than 1024 bytes a second');
    });

    test('but says how far it is with its own work is waited for', async () => {
      const { repository, fetch } = await fetchFrom(
        'for percent in 10 20 30 40 50 60 70 80 90 100; do printf "remote: Compressing objects: %3d%% (1/9)\\n" $percent >&2; sleep 0.2; done',
      );
      expect((await fetch).head).toBe(repository.head('main'));
    });
  });

  test('that hangs ends at its limit', async () => {
    const { folder, repository } = await setUp();
    const git = gitIn(join(folder, 'data'), { GIT_SSH_COMMAND: await fakeSsh(folder, 'ssh', 'sleep 600') });
    const failure = await failureOf(git.branches(remoteAt(`git@example.com:${repository.path}`), { timeoutMs: 300 }));
    expect(failure.kind).toBe('timeout');
  });
});
