import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/fault-proxy.ts';
import { checkOut } from '../scene.ts';
import { locking, openWithProxy, unlocking, useService } from './stage.ts';

useService();

const maps = 'Content/Maps/**';

describe('an unlock with a pattern', () => {
  const all = ['Content/Maps/Arena.umap', 'Content/Maps/Cave.umap', 'Content/Maps/Deep/Moat.umap'] as const;
  const [arena, cave, moat] = all;
  const hero = 'Content/Hero.uasset';

  async function openMaps() {
    const { stage, proxy, job } = await openWithProxy();
    await checkOut(job, ...all);
    return { stage, proxy, job };
  }

  test('releases the locks of the job, and lists those of others', async () => {
    const { stage, proxy, job } = await openMaps();
    const theirs = [await stage.takenByGrace(cave), await stage.take(moat)];
    await job.run(locking([arena, hero]));
    const before = proxy.passed.length;
    const result = await job.run(unlocking({ path: maps }));
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(result.outputs).toEqual({ status: 'released', released: JSON.stringify([arena]) });
    expect(result.log.split('\n').filter((line) => line.includes(': left alone'))).toEqual([
      expect.stringMatching(/^ {2}Content\/Maps\/Cave\.umap: left alone, held by grace until .*$/),
      expect.stringMatching(/^ {2}Content\/Maps\/Deep\/Moat\.umap: left alone, held by build-bot until .*$/),
    ]);
    // One request for the lock, and one for each of the few others.
    expect(proxy.passed.slice(before)).toMatchObject([
      { method: 'DELETE', path: arena },
      { method: 'GET', url: expect.stringContaining('path=Content%2FMaps%2FCave.umap') },
      { method: 'GET', url: expect.stringContaining('path=Content%2FMaps%2FDeep%2FMoat.umap') },
    ]);
    expect((await stage.locks()).filter(({ path }) => path !== hero)).toEqual(theirs);
  });

  test('is held if only others hold matching locks, and absent if nobody does', async () => {
    const { stage, job } = await openMaps();
    const theirs = await stage.takenByGrace(cave);
    const held = await job.run(unlocking({ path: maps }));
    expect(held).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
    expect(held.summary).toContain('<td>left alone</td><td>grace</td>');
    expect(await stage.locks()).toEqual([theirs]);
    await stage.release(cave);
    const absent = await job.run(unlocking({ path: maps }));
    expect(absent).toMatchObject({ conclusion: 'success', outputs: { status: 'absent', released: '[]' } });
    expect(absent.log).toContain('this job holds no lock that matches `path`');
  });

  test('does not mention locks of others if it may not list them, and releases its own', async () => {
    const { stage, proxy, job } = await openMaps();
    const theirs = await stage.take(cave);
    await job.run(locking(arena));
    proxy.meet(({ method }) => (method === 'GET' ? refusal(403) : undefined));
    const result = await job.run(unlocking({ path: maps }));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'released' }, annotations: [] });
    expect(result.log).not.toContain('left alone');
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('releases every lock on a matching file with force', async () => {
    const { stage, job } = await openMaps();
    await stage.take(cave);
    await stage.take(hero);
    await job.run(locking(arena));
    await expect(job.run(unlocking({ path: maps, force: 'true' }))).resolves.toMatchObject({
      conclusion: 'success',
      outputs: { status: 'released', released: JSON.stringify([arena, cave]) },
    });
    expect((await stage.locks()).map(({ path }) => path)).toEqual([hero]);
  });
});
