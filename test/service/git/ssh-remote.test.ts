import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MinTransferSpeed } from '../../../src/service/git/transfer-speed.ts';
import { manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, failureOf, gitIn, gitSetUp, remoteAt } from '../../support/git-service.ts';
import { fakeSsh } from '../../support/git-ssh.ts';

const main = branchNamed('main');

/** `first` is what the other side does before it serves the repository. */
async function setUp(first = '', minSpeed?: MinTransferSpeed) {
  const { folder, repository, data } = await gitSetUp();
  repository.commit(...manyCommits(10));
  const git = gitIn(data, { GIT_SSH_COMMAND: await fakeSsh(folder, 'ssh', first) }, minSpeed);
  const sshArguments = () => readFile(join(folder, 'arguments'), 'utf8');
  return { folder, repository, data, git, sshArguments, remote: remoteAt(`git@example.com:${repository.path}`) };
}

describe('an ssh remote', () => {
  test.each([
    ['with the form of a URL', (path: string) => `ssh://git@example.com:2222${path}`],
    ['with the short form', (path: string) => `git@example.com:${path}`],
  ])('%s is listed, estimated and fetched', async (_, addressOf) => {
    const { git, repository, sshArguments } = await setUp();
    const remote = remoteAt(addressOf(repository.path));
    expect([...(await git.branches(remote, enoughTime)).branches.keys()]).toEqual(['main']);
    const { objects } = await git.estimate('game', remote, main, enoughTime);
    const fetched = await git.fetch('game', remote, main, enoughTime);
    expect(fetched).toEqual({ head: repository.head('main'), receivedObjects: objects });
    expect(await sshArguments()).toContain('git@example.com');
  });

  test('is reached by an ssh that never asks, where the operator sets up none', async () => {
    const { folder, data, remote, sshArguments } = await setUp();
    await gitIn(data, { PATH: `${folder}:${process.env['PATH']}` }).branches(remote, enoughTime);
    expect(await sshArguments()).toContain('BatchMode=yes');
  });

  test('that refuses the key is a failure in the words of ssh', async () => {
    const { git, remote } = await setUp('echo "git@example.com: Permission denied (publickey)." >&2; exit 255');
    const failure = await failureOf(git.branches(remote, enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain('Permission denied (publickey)');
  });

  const minSpeed = { bytesPerSecond: 1_024, forMs: 600 };

  test('that is slow beyond measure is left, long before its limit', async () => {
    // The length of a line, and then a byte of it now and then.
    const { git, remote } = await setUp('printf 0fff; while printf x; do sleep 0.1; done', minSpeed);
    const failure = await failureOf(git.fetch('game', remote, main, enoughTime));
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toContain('less than 1024 bytes a second');
  });

  test('that is slow, but says how far it is with its own work, is waited for', async () => {
    const progress = 'printf "remote: Compressing objects: %3d%% (1/9)\\n" $percent >&2';
    const { git, remote, repository } = await setUp(
      `for percent in 10 20 30 40 50 60 70 80 90 100; do ${progress}; sleep 0.2; done`,
      minSpeed,
    );
    expect((await git.fetch('game', remote, main, enoughTime)).head).toBe(repository.head('main'));
  });
});
