import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type GitHttpsOptions, startGitHttpsServer } from '../../support/git-https-server.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { gitAt, manyCommits } from '../../support/git-repository.ts';
import {
  branchNamed,
  enoughTime,
  expectSound,
  failureOf,
  gitIn,
  gitSetUp,
  remoteAt,
} from '../../support/git-service.ts';
import { listenHere } from '../../support/listen.ts';

const main = branchNamed('main');

async function setUp(options: Omit<GitHttpsOptions, 'folder'> = {}) {
  const setUp = await gitSetUp();
  const server = await startGitHttpsServer({ folder: setUp.folder, ...options });
  return { ...setUp, server, git: gitIn(setUp.data, { GIT_SSL_CAINFO: server.certificate }) };
}

/** Accepts only requests with the password, and records the command lines of all processes meanwhile. */
function guard(username: string, password: string) {
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const seen: string[] = [];
  const answer: GitHttpsOptions['answer'] = (request, response) => {
    seen.push(...processesNaming('').map(({ commandLine }) => commandLine));
    if (request.headers.authorization === expected) return false;
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="assets"' }).end(`no entry for ${username}:${password}`);
    return true;
  };
  return { answer, seen };
}

describe('an https remote', () => {
  test('gets its credentials in a header, and exposes them neither in processes nor in the mirror', async () => {
    const { answer, seen } = guard('builder', 'p@ss:w%rd/1');
    const { repository, server, mirror, git } = await setUp({ answer });
    repository.commit(...manyCommits(3));
    const remote = remoteAt(server.address('remote.git', 'builder:p%40ss%3Aw%25rd%2F1'));

    await git.branches(remote, enoughTime);
    const objects = await git.estimate('game', remote, main, enoughTime);
    const fetched = await git.fetch('game', remote, main, enoughTime);
    expect(fetched).toEqual({ head: repository.head('main'), receivedObjects: objects });

    const secrets = ['p@ss', 'p%40ss', Buffer.from('builder:p@ss:w%rd/1').toString('base64')];
    const visible = seen.filter((line) => line.includes(server.host));
    expect(visible.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(seen.filter((line) => line.includes(secret))).toEqual([]);
    expect(gitAt(mirror, 'config', '--list', '--local')).not.toMatch(/http|remote/);
    expect((await readdir(mirror)).toSorted()).not.toContain('FETCH_HEAD');
  });

  test.each([
    ['without credentials', undefined],
    ['with wrong credentials', 'builder:wr0ng-pa55'],
  ])('fails %s, and neither prompts nor leaks secrets', async (_, userinfo) => {
    const { answer } = guard('builder', 'right');
    const { repository, server, git } = await setUp({ answer });
    repository.commit(...manyCommits(1));
    const remote = remoteAt(server.address('remote.git', userinfo));
    const failure = await failureOf(git.branches(remote, enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain(remote.address);
    expect(failure.message).not.toMatch(/wr0ng|d3Iwbm|Basic/);
    expect(processesNaming(server.host)).toEqual([]);
  });

  test('does not leak its password into an error, even if the server repeats it', async () => {
    const { server, git } = await setUp({
      answer: (_, response) => {
        response
          .writeHead(403, { 'Content-Type': 'text/plain' })
          .end('t0ken-of-the-builder may not, nor may s3cret-word');
        return true;
      },
    });
    const remote = remoteAt(server.address('remote.git', 't0ken-of-the-builder:s3cret-word'));
    const failure = await failureOf(git.branches(remote, enoughTime));
    expect(failure.message).toContain('*** may not, nor may ***');
    expect(`${failure.message} ${failure.stack}`).not.toMatch(/t0ken|s3cret/);
  });

  test('fails if it redirects, and its credentials are not sent elsewhere', async () => {
    const elsewhere = await setUp();
    elsewhere.repository.commit(...manyCommits(1));
    const { server, git } = await setUp({
      answer: (request, response) => {
        response.writeHead(302, { Location: `https://${elsewhere.server.host}${request.url}` }).end();
        return true;
      },
    });
    const failure = await failureOf(git.branches(remoteAt(server.address('remote.git', 'user:password')), enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain('302');
    expect(elsewhere.server.requests).toEqual([]);
  });

  test('fails if its certificate is not trusted', async () => {
    const { repository, server, data } = await setUp();
    repository.commit(...manyCommits(1));
    const failure = await failureOf(gitIn(data).branches(remoteAt(server.address('remote.git')), enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toMatch(/certificate/i);
    expect(server.requests).toEqual([]);
  });
});

test('a remote that hangs fails at the time limit, and leaves no process behind', async () => {
  const { port, close } = await listenHere(createServer());
  onTestFinished(close);
  const { git, data } = await gitSetUp();
  const remote = remoteAt(`https://user:pa55word@127.0.0.1:${port}/remote.git`);
  const limits = { timeoutMs: 400 };
  const attempts = [
    git.branches(remote, limits),
    git.estimate('game', remote, main, limits),
    git.fetch('game', remote, main, limits),
  ];
  for (const failure of await Promise.all(attempts.map(failureOf))) {
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toContain('0.4 s');
    expect(failure.message).not.toContain('pa55word');
  }
  expect(processesNaming(`127.0.0.1:${port}`)).toEqual([]);
  expect(await readdir(join(data, 'scratch'))).toEqual([]);
});

describe('a fetch that stalls in the middle of the pack', () => {
  /** Starts a server that stalls after it has sent a part of the pack. */
  async function setUpStalled() {
    const stall = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    let stalling = true;
    const running = await setUp({
      beforeSending: async (bytesSent) => {
        if (!stalling || bytesSent < 200_000) return;
        stall.resolve();
        await release.promise;
      },
    });
    onTestFinished(() => release.resolve());
    running.repository.commit(...manyCommits(5));
    const remote = remoteAt(running.server.address('remote.git'));
    const first = await running.git.fetch('game', remote, main, enoughTime);
    running.repository.commit({ branch: 'main', files: { large: randomBytes(3_000_000) } });
    return {
      ...running,
      remote,
      first,
      stalled: stall.promise,
      proceed: () => {
        stalling = false;
        release.resolve();
      },
    };
  }

  test.each([
    { end: 'it is aborted', kind: 'aborted' },
    { end: 'its time limit has passed', kind: 'timeout' },
    { end: 'git is killed', kind: 'failed' },
  ] as const)('leaves the mirror unchanged if $end', async ({ kind }) => {
    const { git, remote, repository, server, data, mirror, first, stalled, proceed } = await setUpStalled();
    const abort = new AbortController();
    const limits = kind === 'timeout' ? { timeoutMs: 1_000 } : { ...enoughTime, signal: abort.signal };
    const fetching = failureOf(git.fetch('game', remote, main, limits));
    await Promise.race([stalled, fetching]);
    if (kind === 'aborted') abort.abort();
    if (kind === 'failed') {
      for (const { pid, commandLine } of processesNaming(server.host)) {
        if (commandLine.startsWith('git fetch')) process.kill(pid, 'SIGKILL');
      }
    }
    const failure = await fetching;
    expect(failure.kind).toBe(kind);
    if (kind === 'failed') expect(failure.message).toContain('SIGKILL');

    expect(processesNaming(server.host)).toEqual([]);
    expect(await git.missingCommits('game', [first.head, repository.head('main')])).toEqual(
      new Set([repository.head('main')]),
    );
    await expectSound(mirror, data);

    proceed();
    const again = await git.fetch('game', remote, main, enoughTime);
    expect(again).toEqual({ head: repository.head('main'), receivedObjects: 3 });
    await expectSound(mirror, data);
  });

  test('does not block an estimate or the fetch of another branch', async () => {
    const { git, remote, repository, stalled, proceed } = await setUpStalled();
    const other = branchNamed('other');
    repository.commit({ branch: 'other', from: 'main~1', files: { small: 'x' } });
    const fetching = git.fetch('game', remote, main, enoughTime);
    await stalled;
    expect(await git.estimate('game', remote, other, enoughTime)).toBe(3);
    expect((await git.fetch('game', remote, other, enoughTime)).head).toBe(repository.head('other'));
    proceed();
    expect((await fetching).head).toBe(repository.head('main'));
    expect(await git.missingCommits('game', [repository.head('other')])).toEqual(new Set());
  });
});
