import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readProgress } from '../../../src/service/git/transfer.ts';
import { temporaryFolder } from '../../support/git-folders.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { type Commit, createRepository, gitAt, manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, failureOf, gitIn, remoteAt } from '../../support/git-service.ts';
import { fakeSsh } from '../../support/git-ssh.ts';
import { runs } from '../../support/runs.ts';

const branches = ['main', 'one', 'two/three'] as const;

type Step =
  | { readonly kind: 'commit'; readonly branch: string; readonly files: Readonly<Record<string, string>> }
  | { readonly kind: 'merge'; readonly branch: string; readonly other: string }
  | { readonly kind: 'begin'; readonly branch: string; readonly from: string }
  | { readonly kind: 'rewrite'; readonly branch: string; readonly back: number }
  | { readonly kind: 'tag'; readonly branch: string }
  | { readonly kind: 'repack' }
  | { readonly kind: 'sync'; readonly branch: string };

const branch = fc.constantFrom(...branches);
const files = fc.dictionary(
  fc.tuple(fc.constantFrom('a', 'b', 'c/d'), fc.nat({ max: 9 })).map(([folder, file]) => `${folder}/${file}`),
  fc.string({ maxLength: 60 }),
  { minKeys: 1, maxKeys: 4 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('commit' as const), branch, files }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('merge' as const), branch, other: branch }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('begin' as const), branch, from: branch }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rewrite' as const), branch, back: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tag' as const), branch }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repack' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sync' as const), branch }) },
);

describe('the estimate', () => {
  test('is what the fetch then transfers, in whatever way the history came about', async () => {
    const folder = await temporaryFolder();
    let tries = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async (steps) => {
        tries += 1;
        const repository = createRepository(folder, `remote-${tries}.git`);
        const git = gitIn(join(folder, `data-${tries}`));
        const remote = remoteAt(`file://${repository.path}`);
        repository.commit({ branch: 'main', files: { a: 'first' } });
        repository.commit(
          ...branches.slice(1).map((name) => ({ branch: name, from: 'main', files: { [name]: name } })),
        );
        const sync = async (name: string): Promise<void> => {
          const { objects, exact } = await git.estimate('game', remote, branchNamed(name), enoughTime);
          const { receivedObjects } = await git.fetch('game', remote, branchNamed(name), enoughTime);
          expect({ objects, exact }).toEqual({ objects: receivedObjects, exact: true });
        };

        let pending: Commit[] = [];
        const flush = (): void => {
          if (pending.length > 0) repository.commit(...pending);
          pending = [];
        };
        for (const [index, one] of steps.entries()) {
          switch (one.kind) {
            case 'commit':
              pending.push({ branch: one.branch, files: one.files });
              break;
            case 'merge':
              if (one.branch !== one.other)
                pending.push({ branch: one.branch, merge: one.other, files: { merged: `${index}` } });
              break;
            case 'begin':
              if (one.branch !== one.from)
                pending.push({ branch: one.branch, from: one.from, files: { begun: `${index}` } });
              break;
            case 'rewrite': {
              flush();
              const history = repository.git('rev-list', '--first-parent', one.branch).trim().split('\n');
              const from = history[Math.min(one.back, history.length - 1)] ?? one.branch;
              pending.push({ branch: one.branch, from, files: { rewritten: `${index}` } });
              break;
            }
            case 'tag':
              flush();
              repository.git('tag', '-m', 'tag', `tag-${index}`, one.branch);
              break;
            case 'repack':
              flush();
              repository.git('repack', '-a', '-d', '-b', '-q');
              break;
            case 'sync':
              flush();
              await sync(one.branch);
          }
        }
        flush();
        for (const name of branches) {
          await sync(name);
          const again = await git.estimate('game', remote, branchNamed(name), enoughTime);
          expect(again).toEqual({ objects: 0, exact: true });
        }
      }),
      { numRuns: runs(1, 20) },
    );
  });

  test('holds for some thousand objects, at first and for what is added', async () => {
    const folder = await temporaryFolder();
    const repository = createRepository(folder);
    const git = gitIn(join(folder, 'data'));
    const remote = remoteAt(repository.path);
    const main = branchNamed('main');
    repository.commit(
      ...manyCommits(1_500),
      ...manyCommits(300, 'side').map((one, index) => (index === 0 ? { ...one, from: 'main' } : one)),
    );
    repository.git('repack', '-a', '-d', '-q');

    const first = await git.estimate('game', remote, main, enoughTime);
    expect(first.objects).toBeGreaterThan(5_000);
    expect((await git.fetch('game', remote, main, enoughTime)).receivedObjects).toBe(first.objects);

    repository.commit(
      { branch: 'main', merge: 'side', files: { merged: 'side' } },
      ...manyCommits(200, 'main', 'more'),
    );
    const second = await git.estimate('game', remote, main, enoughTime);
    expect(second.objects).toBeGreaterThan(1_000);
    expect(second.objects).toBeLessThan(first.objects);
    expect((await git.fetch('game', remote, main, enoughTime)).receivedObjects).toBe(second.objects);
  });

  test('changes nothing in the mirror and leaves nothing running', async () => {
    const folder = await temporaryFolder();
    const repository = createRepository(folder);
    const git = gitIn(join(folder, 'data'));
    const remote = remoteAt(repository.path);
    const main = branchNamed('main');
    repository.commit(...manyCommits(3));
    const { head } = await git.fetch('game', remote, main, enoughTime);
    const mirror = join(folder, 'data', 'mirrors', 'game.git');
    const before = gitAt(mirror, 'count-objects', '-v');

    repository.commit({ branch: 'main', files: { large: randomBytes(8_000_000) } });
    const { objects } = await git.estimate('game', remote, main, enoughTime);
    expect(objects).toBe(3);
    expect(gitAt(mirror, 'count-objects', '-v')).toBe(before);
    expect(await git.head('game', main)).toBe(head);
    expect(processesNaming(repository.path)).toEqual([]);
  });
});

test('an estimate whose time ends while the remote is packing is what was announced, if anything was', async () => {
  const folder = await temporaryFolder();
  const repository = createRepository(folder);
  repository.commit(...manyCommits(3));
  /** Estimates against a remote that says this much, and is busy packing from then on. */
  const estimateOf = async (name: string, announcement: string) => {
    const packer = join(folder, `packer-${name}`);
    await writeFile(packer, `#!/bin/sh\necho "${announcement}" >&2\nsleep 600\n`);
    await chmod(packer, 0o755);
    const settings = `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=uploadpack.packObjectsHook GIT_CONFIG_VALUE_0=${packer}`;
    const git = gitIn(join(folder, name), { GIT_SSH_COMMAND: await fakeSsh(folder, `ssh-${name}`, settings) });
    return git.estimate('game', remoteAt(`git@example.com:${repository.path}`), branchNamed('main'), {
      timeoutMs: 3_000,
    });
  };
  const [announced, silent] = await Promise.all([
    estimateOf('announces', 'Enumerating objects: 41, done.'),
    failureOf(estimateOf('is-silent', 'Enumerating objects: 41')),
  ]);
  expect(announced).toEqual({ objects: 41, exact: false });
  expect(silent.kind).toBe('timeout');
  expect(processesNaming(folder)).toEqual([]);
});

describe('progress', () => {
  test.each([
    ['Receiving objects:   0% (1/1500)', { kind: 'receiving', received: 1, total: 1_500 }],
    ['Receiving objects: 100% (5/5), 3.21 KiB | 1.00 MiB/s, done.', { kind: 'receiving', received: 5, total: 5 }],
    ['remote: Enumerating objects: 41, done.        ', { kind: 'announced', objects: 41 }],
    ['remote: Enumerating objects: 41        ', undefined],
    ['remote: Counting objects: 100% (25/25), done.        ', { kind: 'announced', objects: 25 }],
    ['remote: Counting objects:  40% (10/25)        ', undefined],
    ['remote: Finding sources: 100% (7/7)        ', { kind: 'announced', objects: 7 }],
    ['remote: Receiving objects: 100% (9/9)', undefined],
    ['Resolving deltas: 100% (2/2), done.', undefined],
  ])('%j', (line, progress) => {
    expect(readProgress(line)).toEqual(progress);
  });
});
