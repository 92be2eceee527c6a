import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GitError } from '../../../src/service/git/git-error.ts';
import { manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, failureOf, gitIn, gitSetUp, remoteAt } from '../../support/git-service.ts';
import { fakeSsh } from '../../support/git-ssh.ts';

const main = branchNamed('main');

/** The remote runs `first` before it serves the repository. */
async function setUp(first = '', silenceMs?: number) {
  const { folder, repository, data } = await gitSetUp();
  repository.commit(...manyCommits(10));
  const git = gitIn(data, { GIT_SSH_COMMAND: await fakeSsh(folder, first) }, silenceMs);
  const sshArguments = () => readFile(join(folder, 'arguments'), 'utf8');
  return { repository, git, sshArguments, remote: remoteAt(`git@example.com:${repository.path}`) };
}

describe('an ssh remote', () => {
  test.each([
    ['by its URL', (path: string) => `ssh://git@example.com:2222${path}`],
    ['by its short form', (path: string) => `git@example.com:${path}`],
  ])('can be listed, estimated and fetched %s', async (_, addressOf) => {
    const { git, repository, sshArguments } = await setUp();
    const remote = remoteAt(addressOf(repository.path));
    expect([...(await git.branches(remote, enoughTime)).branches.keys()]).toEqual(['main']);
    const objects = await git.estimate('game', remote, main, enoughTime);
    const fetched = await git.fetch('game', remote, main, enoughTime);
    expect(fetched).toEqual({ head: repository.head('main'), receivedObjects: objects });
    expect(await sshArguments()).toContain('git@example.com');
  });

  test('fails with the message of ssh if it rejects the key', async () => {
    const { git, remote } = await setUp('echo "git@example.com: Permission denied (publickey)." >&2; exit 255');
    const failure = await failureOf(git.branches(remote, enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain('Permission denied (publickey)');
  });

  test('is listed without waiting for a helper that keeps running, such as a shared connection of ssh', async () => {
    // Longer than the time limit.
    const { git, remote } = await setUp('setsid sleep 60 > /dev/null &');
    expect([...(await git.branches(remote, enoughTime)).branches.keys()]).toEqual(['main']);
  });

  test('fails well before the time limit if it falls silent', async () => {
    // Sends the length of a packet line, and then one byte of it every 0.1 s.
    const { git, remote } = await setUp('printf 0fff; while printf x; do sleep 0.1; done', 600);
    const failure = await failureOf(git.fetch('game', remote, main, enoughTime));
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toContain('nothing arrived for 0.6 s');
  });

  test('is not timed out if it is slow but reports its own progress', async () => {
    const progress = 'printf "remote: Compressing objects: %3d%% (1/9)\\n" $percent >&2';
    const { git, remote, repository } = await setUp(
      `for percent in 10 20 30 40 50 60 70 80 90 100; do ${progress}; sleep 0.4; done`,
      3_000,
    );
    expect((await git.fetch('game', remote, main, enoughTime)).head).toBe(repository.head('main'));
  });

  test('holds only fetches of the same branch if it hangs', async () => {
    const { git, repository, remote: hanging } = await setUp('sleep 600');
    repository.commit({ branch: 'dev', from: 'main', files: { a: 'b' } }, { branch: 'main', files: { c: 'd' } });
    const remote = remoteAt(repository.path);
    const dev = branchNamed('dev');
    const heads = new Map([dev, main].map((branch) => [branch, repository.head(branch)]));
    const ending = new AbortController();
    const held = failureOf(git.fetch('game', hanging, main, { ...enoughTime, signal: ending.signal }));
    const both = git.fetchCommits('game', remote, heads, enoughTime);
    const missing = () => git.missingCommits('game', heads.values());
    await expect.poll(missing).toEqual(new Set([heads.get(main)]));
    expect((await git.fetch('game', remote, dev, enoughTime)).head).toBe(heads.get(dev));
    ending.abort(new GitError('failed', 'Stopped.'));
    expect((await held).message).toBe('Stopped.');
    await both;
    expect(await missing()).toEqual(new Set());
  });
});
