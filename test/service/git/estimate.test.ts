import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readProgress } from '../../../src/service/git/fetch.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { type Commit, createRepository, gitAt, manyCommits } from '../../support/git-repository.ts';
import { branchNamed, enoughTime, gitIn, gitSetUp, remoteAt } from '../../support/git-service.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const branches = ['main', 'one', 'two/three'] as const;

const branch = fc.constantFrom(...branches);
const files = fc.dictionary(
  fc.tuple(fc.constantFrom('a', 'b', 'c/d'), fc.nat({ max: 9 })).map(([folder, file]) => `${folder}/${file}`),
  fc.string({ maxLength: 60 }),
  { minKeys: 1, maxKeys: 4 },
);
const kind = fc.oneof(
  { weight: 6, arbitrary: fc.constant('commit' as const) },
  { weight: 2, arbitrary: fc.constant('merge' as const) },
  { weight: 4, arbitrary: fc.constantFrom('begin' as const, 'rewrite' as const, 'tag' as const, 'repack' as const) },
  { weight: 4, arbitrary: fc.constant('sync' as const) },
);
const step = fc.record({ kind, branch, other: branch, back: fc.integer({ min: 1, max: 6 }), files });

describe('the estimate', () => {
  test('equals the number of objects that the fetch transfers, for any history', async () => {
    const folder = temporaryFolder();
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
          const estimated = await git.estimate('game', remote, branchNamed(name), enoughTime);
          const { receivedObjects } = await git.fetch('game', remote, branchNamed(name), enoughTime);
          expect(estimated).toBe(receivedObjects);
        };

        let pending: Commit[] = [];
        const flush = (): void => {
          if (pending.length > 0) repository.commit(...pending);
          pending = [];
        };
        for (const [index, { kind, branch, other, back, files }] of steps.entries()) {
          if (kind !== 'commit' && kind !== 'merge' && kind !== 'begin') flush();
          switch (kind) {
            case 'commit':
              pending.push({ branch, files });
              break;
            case 'merge':
              if (branch !== other) pending.push({ branch, merge: other, files: { merged: `${index}` } });
              break;
            case 'begin':
              if (branch !== other) pending.push({ branch, from: other, files: { begun: `${index}` } });
              break;
            case 'rewrite': {
              const history = repository.git('rev-list', '--first-parent', branch).trim().split('\n');
              const from = history[Math.min(back, history.length - 1)] ?? branch;
              pending.push({ branch, from, files: { rewritten: `${index}` } });
              break;
            }
            case 'tag':
              repository.git('tag', '-m', 'tag', `tag-${index}`, branch);
              break;
            case 'repack':
              repository.git('repack', '-a', '-d', '-b', '-q');
              break;
            case 'sync':
              await sync(branch);
          }
        }
        flush();
        for (const name of branches) {
          await sync(name);
          expect(await git.estimate('game', remote, branchNamed(name), enoughTime)).toBe(0);
        }
      }),
      { numRuns: runs(1, 20) },
    );
  });

  test('does not change the mirror, and leaves no process running', async () => {
    const { git, repository, remote, mirror } = await gitSetUp();
    const main = branchNamed('main');
    repository.commit(...manyCommits(3));
    const { head } = await git.fetch('game', remote, main, enoughTime);
    const before = gitAt(mirror, 'count-objects', '-v');

    repository.commit({ branch: 'main', files: { large: randomBytes(8_000_000) } });
    expect(await git.estimate('game', remote, main, enoughTime)).toBe(3);
    expect(gitAt(mirror, 'count-objects', '-v')).toBe(before);
    expect(gitAt(mirror, 'for-each-ref', '--format=%(objectname)')).toBe(`${head}\n`);
    expect(processesNaming(repository.path)).toEqual([]);
  });
});

describe('the progress of a transfer', () => {
  test.each([
    ['Receiving objects:   0% (1/1500)', { received: 1, total: 1_500 }],
    ['Receiving objects: 100% (5/5), 3.21 KiB | 1.00 MiB/s, done.', { received: 5, total: 5 }],
    ['Resolving deltas: 100% (2/2), done.', undefined],
  ])('is parsed from the line %j', (line, progress) => {
    expect(readProgress(line)).toEqual(progress);
  });
});
