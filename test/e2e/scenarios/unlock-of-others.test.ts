import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { isReleasing, type Manner, type Passing } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { Job, StepOptions } from '../../support/runner/job.ts';
import { forms } from '../../support/runs.ts';
import { locking, manyPaths, openStage, type Stage, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';
const maps = ['Content/Maps/Arena.umap', 'Content/Maps/Cave.umap', 'Content/Maps/Deep/Moat.umap'] as const;
const [arena, cave, moat] = maps;

const isListing = ({ method }: Passing): boolean => method === 'GET';

async function checkOut({ folders }: Job, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(folders.workspace, file)), { recursive: true });
    await writeFile(join(folders.workspace, file), '');
  }
}

/** Of somebody with another token. */
async function takenByGrace(stage: Stage, path: string): Promise<Lock> {
  const grace = await stage.service.token({ name: 'grace', scopes: ['locks:write'] });
  return stage.take(path, { token: grace.secret, origin: 'https://ci.example.com/runs/7' });
}

const manners: readonly (readonly [string, Manner])[] = [
  ['gives ETags', {}],
  ['gives ids alone', { givesNoTag: true }],
  ['gives neither ETags nor ids', { givesNoProof: true }],
  ['tells locks apart by nothing at all', { givesNoProof: true, keepsNoTimes: true, keepsNoOrigin: true }],
];

describe.each(forms(manners, 0, 3))(
  'with a service that %s, an unlock of a path that the job never locked',
  (_, manner) => {
    test.each(['odd', 'even'])('leaves alone whoever comes later, with a fault at every %s request', async (which) => {
      const stage = await openStage();
      await stage.take(hero);
      const proxy = await stage.proxy(manner);
      const taken = Promise.withResolvers<Lock>();
      let requests = 0;
      let released = false;
      // Somebody takes the path as soon as it is free, and before anything more is answered.
      async function takeOnceFree(): Promise<Lock> {
        await expect.poll(() => stage.locks()).toEqual([]);
        return stage.take(hero);
      }
      proxy.meet((passing) => {
        requests += 1;
        const strikes = requests % 2 === (which === 'odd' ? 1 : 0);
        if (released) return strikes ? { kind: 'cut' } : { kind: 'held-back', until: taken.promise };
        if (!isReleasing(passing)) return strikes ? { kind: 'done-then-cut' } : undefined;
        released = true;
        takeOnceFree().then(taken.resolve, taken.reject);
        return strikes ? { kind: 'done-then-cut' } : { kind: 'done-then-held-back', until: taken.promise };
      });
      const job = await stage.job();
      const { outputs } = await job.run({ ...unlocking({ path: hero }), env: { NODE_OPTIONS: fasterTime(10) } });
      const theirs = await taken.promise;
      expect(await stage.locks()).toEqual([theirs]);
      expect(['released', 'held']).toContain(outputs['status']);
    });

    test.each(['true', 'false'])('releases the lock that is there, with force: %s', async (force) => {
      const stage = await openStage();
      await stage.take(hero);
      const proxy = await stage.proxy(manner);
      const job = await stage.job();
      await expect(job.run(unlocking({ path: hero, force }))).resolves.toMatchObject({
        conclusion: 'success',
        outputs: { status: 'released', released: JSON.stringify([hero]) },
      });
      expect(proxy.passed.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
      expect(await stage.locks()).toEqual([]);
    });
  },
);

describe('an unlock of a path that the job never locked', () => {
  test.each(['true', 'false'])('names the lock that it has found, with force: %s', async (force) => {
    const stage = await openStage();
    const found = await stage.take(hero);
    const proxy = await stage.proxy();
    const job = await stage.job();
    await job.run(unlocking({ path: hero, force }));
    const [release] = proxy.passed.filter(isReleasing);
    expect(release?.headers['if-match']).toBe(`"${found.id}"`);
  });

  test('is absent where nothing is found, and releases nothing', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await expect(job.run(unlocking({ path: hero }))).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'absent' },
      annotations: [],
    });
    expect(proxy.passed.filter(isReleasing)).toEqual([]);
  });

  test.each(forms([403, 404, 405, 501], 0))(
    'is sent once where the service does not let it look (%s), whatever becomes of the answer',
    async (status) => {
      const stage = await openStage();
      await stage.take(hero);
      const proxy = await stage.proxy();
      proxy.meet((passing) => {
        if (isListing(passing)) return { kind: 'answer', status };
        return isReleasing(passing) ? { kind: 'done-then-cut' } : undefined;
      });
      const job = await stage.job();
      const result = await job.run(unlocking({ path: hero }));
      expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', released: '[]' } });
      expect(result.annotations[0]?.message).toContain('sent only once');
      expect(proxy.passed.filter(isReleasing)).toHaveLength(1);
    },
  );

  test('is not sent at all where it cannot look for trouble on the way', async () => {
    const stage = await openStage();
    const theirs = await stage.take(hero);
    const proxy = await stage.proxy();
    proxy.meet((passing) => (isListing(passing) ? { kind: 'answer', status: 500 } : undefined));
    const job = await stage.job();
    const result = await job.run(unlocking({ path: hero, retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held' } });
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('of many paths takes one list, and releases only what is there', async () => {
    const stage = await openStage();
    const paths = manyPaths(40);
    for (const path of paths.slice(0, 10)) await stage.take(path);
    const proxy = await stage.proxy();
    const job = await stage.job();
    const result = await job.run(unlocking({ path: paths.join('\n') }));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    expect(JSON.parse(result.outputs['released'] ?? '')).toEqual(paths.slice(0, 10));
    expect(proxy.passed.filter(isListing).map(({ url }) => url)).toEqual([
      expect.stringContaining('prefix=Content%2F&'),
    ]);
    expect(proxy.passed.filter(isReleasing)).toHaveLength(10);
    expect(await stage.locks()).toEqual([]);
  });

  test('after a step has locked others, does not wait with those for a list in trouble', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await job.run(locking(['a', 'b']));
    proxy.meet((passing) => (isListing(passing) ? { kind: 'cut' } : undefined));
    const result = await job.run(unlocking({ path: 'a\nb\nc', retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'released', released: '["a","b"]' } });
    expect(await stage.locks()).toEqual([]);
  });
});

describe('an unlock with a pattern', () => {
  const byPattern = (more: Readonly<Record<string, string>> = {}): StepOptions =>
    unlocking({ path: 'Content/Maps/**', ...more });

  test('releases what the job holds, and names in one line what others hold', async () => {
    const stage = await openStage();
    const theirs = [await takenByGrace(stage, cave), await stage.take(moat)];
    const proxy = await stage.proxy();
    const job = await stage.job();
    await checkOut(job, [...maps, 'Content/Maps/Free.umap']);
    await job.run(locking([arena, hero]));
    const before = proxy.passed.length;
    const result = await job.run(byPattern());
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(result.outputs).toEqual({ status: 'released', released: JSON.stringify([arena]) });
    const lines = result.log.split('\n').filter((line) => line.startsWith('Left alone'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^Left alone, because this job is not known to hold them: Content\/Maps\/Cave\.umap \(held by grace until .*\), Content\/Maps\/Deep\/Moat\.umap \(held by build-bot until .*\)\.$/,
    );
    // The one lock, and one look at the others.
    expect(proxy.passed.slice(before)).toMatchObject([
      { method: 'DELETE', path: arena },
      { method: 'GET', url: expect.stringContaining('prefix=Content%2FMaps%2F') },
    ]);
    expect((await stage.locks()).filter(({ path }) => path !== hero)).toEqual(theirs);
  });

  test('releases what the job holds, also when the checkout has gone', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await checkOut(job, maps);
    await job.run(locking([...maps, hero]));
    await rm(join(job.folders.workspace, 'Content'), { recursive: true });
    await expect(job.run(byPattern())).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'released', released: JSON.stringify(maps) },
    });
    expect((await stage.locks()).map(({ path }) => path)).toEqual([hero]);
  });

  test('of which the job holds nothing is held where others hold something, and fails nothing', async () => {
    const stage = await openStage();
    const theirs = await takenByGrace(stage, cave);
    const job = await stage.job();
    await checkOut(job, maps);
    const result = await job.run(byPattern());
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
    expect(result.summary).toContain('<td>held by grace until');
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('of which nobody holds anything is absent, and says so', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await checkOut(job, maps);
    const result = await job.run(byPattern());
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'absent', released: '[]' } });
    expect(result.log).toContain('this job has no lock on what the pattern matches');
  });

  test('says nothing of others where it may not look, and releases its own', async () => {
    const stage = await openStage();
    const theirs = await stage.take(cave);
    const proxy = await stage.proxy();
    const job = await stage.job();
    await checkOut(job, maps);
    await job.run(locking(arena));
    proxy.meet((passing) => (isListing(passing) ? { kind: 'answer', status: 403 } : undefined));
    const result = await job.run(byPattern());
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'released' }, annotations: [] });
    expect(result.log).not.toContain('Left alone');
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('leaves alone a lock that the job itself holds and an exclusion takes away', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await job.run(locking(maps));
    await job.run(unlocking({ path: 'Content/Maps/**\n!**/Deep/**' }));
    expect((await stage.locks()).map(({ path }) => path)).toEqual([moat]);
  });

  test('leaves alone what another job has taken after the lock of this one has ended', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await checkOut(job, maps);
    await job.run(locking([arena, cave]));
    await stage.release(arena);
    const theirs = await takenByGrace(stage, arena);
    const result = await job.run(byPattern());
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'lost' } });
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('with force, releases every lock on a matching file', async () => {
    const stage = await openStage();
    await stage.take(cave);
    await stage.take(hero);
    const job = await stage.job();
    await checkOut(job, maps);
    await job.run(locking(arena));
    await expect(job.run(byPattern({ force: 'true' }))).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'released', released: JSON.stringify([arena, cave]) },
    });
    expect((await stage.locks()).map(({ path }) => path)).toEqual([hero]);
  });

  test('that is the name of a file means that file, and the lock that is there', async () => {
    const stage = await openStage();
    const rock = 'Content/Rock[1].fbx';
    await stage.take(rock);
    const job = await stage.job();
    await checkOut(job, [rock]);
    await expect(job.run(unlocking({ path: rock }))).resolves.toMatchObject({ outputs: { status: 'released' } });
    expect(await stage.locks()).toEqual([]);
  });
});
