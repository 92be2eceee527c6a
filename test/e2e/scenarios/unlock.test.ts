import { appendFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/service/contract/schemas.ts';
import { type FaultProxy, isReleasing, type Passing, refusal } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { checkOut } from '../scene.ts';
import { atEveryRequest, lostResponse, type Met, manners, meetAt } from './faults.ts';
import { ledgerOf } from './ledger.ts';
import { hero, locking, openStage, openWithProxy, type Stage, unlocking, useService } from './stage.ts';

useService();

const isListing = ({ method }: Passing): boolean => method === 'GET';

/** Shortens the pauses between attempts. */
const env = { NODE_OPTIONS: fasterTime(10) };

interface Played {
  readonly path: string;
  /** The lock on the path before the step started. */
  readonly first: Lock | undefined;
  /** A lock that someone took while the step ran. */
  readonly theirs: Lock | undefined;
  readonly proxy: FaultProxy;
  readonly result: StepResult;
}

/** Expects that the step reports what the service did, and that a later lock was left alone. */
async function expectTruth(stage: Stage, { path, first, theirs, proxy, result }: Played): Promise<void> {
  const now = await stage.lockOn(path);
  const reason = `${path}: ${JSON.stringify(result.outputs)}\n${result.log}`;
  if (theirs !== undefined) expect(now?.id, `theirs on ${reason}`).toBe(theirs.id);
  const didRelease = proxy.passed.some((one) => isReleasing(one) && one.path === path && one.status === 204);
  const { status, released } = result.outputs;
  expect(JSON.parse(released ?? '[]'), reason).toEqual(status === 'released' ? [path] : []);
  switch (status) {
    case 'released':
      expect(didRelease, reason).toBe(true);
      expect(now?.id, reason).not.toBe(first?.id);
      break;
    case 'absent':
      expect([didRelease, now], reason).toEqual([false, undefined]);
      break;
    case 'held':
      // If the result is unknown, the step reports that and fails.
      if (result.log.includes('may not have been released')) expect(result.conclusion, reason).toBe('failure');
      else expect([didRelease, now === undefined], reason).toEqual([false, false]);
      break;
    default:
      // The lock was not that of this job, so it cannot be lost; an unknown result is a failure.
      expect([status, result.conclusion], reason).toEqual([undefined, 'failure']);
  }
}

const takenByAnotherJob = (stage: Stage, path: string): Promise<Lock> =>
  stage.take(path, { origin: 'https://ci.example.com/7' });

describe.each(manners)('with a service that %s, an unlock of a path that the job never locked', (_, manner) => {
  test('releases the current lock and no later one, whichever response is lost while another job takes the path', async () => {
    const { stage, proxy, job } = await openWithProxy(manner);
    const asked = await atEveryRequest(async (number) => {
      const path = `Content/Hero-${number}.uasset`;
      const first = await stage.take(path);
      let theirs: Lock | undefined;
      const met: Met = meetAt(proxy, number, lostResponse, async () => {
        if ((await stage.lockOn(path)) === undefined) theirs = await takenByAnotherJob(stage, path);
      });
      const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
      await met.done();
      await expectTruth(stage, { path, first, theirs, proxy, result });
      // If the lock can be identified, transient faults do not change the result.
      if (!manner.givesNoProof) expect(result.outputs['status'], result.log).toBe('released');
      return met;
    });
    expect(asked).toBeGreaterThan(0);
  });
});

test('an unlock leaves alone a lock of another job that replaced the one it found, whenever that happens', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const asked = await atEveryRequest(async (number) => {
    const path = `Content/Hero-${number}.uasset`;
    const first = await stage.take(path);
    let theirs: Lock | undefined;
    const met = meetAt(proxy, number, undefined, async () => {
      if ((await stage.lockOn(path)) !== undefined) await stage.release(path);
      theirs = await takenByAnotherJob(stage, path);
    });
    const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
    await met.done();
    await expectTruth(stage, { path, first, theirs, proxy, result });
    return met;
  });
  // The step looks up the lock before it releases it, so the lock may change in between.
  expect(asked).toBeGreaterThanOrEqual(2);
});

describe('an unlock of a path that the job never locked', () => {
  test('sends one request, whatever happens to its response, if the service does not let it list locks', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    await stage.take(hero);
    proxy.meet((passing) => {
      if (isListing(passing)) return refusal(403);
      return isReleasing(passing) ? { kind: 'done-then-cut' } : undefined;
    });
    const result = await (await stage.job()).run(unlocking({ path: hero }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', released: '[]' } });
    expect(result.annotations[0]?.message).toContain('may not have been released');
    expect(proxy.passed.filter(isReleasing)).toHaveLength(1);
  });

  test('releases only the locks of the job, and sends no other request, if the list is unavailable', async () => {
    const { stage, proxy, job } = await openWithProxy();
    const theirs = await stage.take('c');
    await job.run(locking(['a', 'b']));
    proxy.meet((passing) => (isListing(passing) ? { kind: 'answer', status: 500 } : undefined));
    const result = await job.run(unlocking({ path: 'a\nb\nc', retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'released', released: '["a","b"]' } });
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('fails if neither the ledger nor the service shows who holds the lock', async () => {
    const { stage, proxy, job } = await openWithProxy();
    const theirs = await stage.take(hero);
    await job.run(locking('a'));
    await appendFile(ledgerOf(job), '{"kind":"gran\n');
    proxy.meet((passing) => (isListing(passing) ? { kind: 'answer', status: 500 } : undefined));
    const result = await job.run(unlocking({ path: hero, retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', released: '[]' } });
    expect(result.log).toContain('500');
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });
});

test('an unlock of many paths leaves the lock of another run alone if the list is incomplete', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const wanted = Array.from({ length: 9 }, (_, index) => `wanted/${index}`);
  for (const path of wanted) await stage.takenByGrace(path);
  const theirs = await stage.take('other', { origin: 'https://github.com/octo-games/dragon/actions/runs/1' });
  const headers = { 'content-type': 'application/json' };
  const incomplete = { kind: 'answer', status: 200, headers, body: '{"locks":[],"has_more":true}' } as const;
  proxy.meet(({ method, url }) =>
    method === 'GET' && url.includes('/locks') && !url.includes('path=') ? incomplete : undefined,
  );
  expect((await job.run(locking(wanted))).outputs).toMatchObject({ status: 'held' });
  await job.run(unlocking({ path: ['other', ...wanted].join('\n') }));
  expect(await stage.lockOn('other')).toEqual(theirs);
});

const maps = 'Content/Maps/**';

describe('an unlock with a pattern', () => {
  const all = ['Arena.umap', 'Cave.umap', 'Deep/Moat.umap', 'Rock[1].fbx'].map((name) => `Content/Maps/${name}`);
  const [arena = '', cave = '', moat = '', rock = ''] = all;

  async function openMaps() {
    const opened = await openWithProxy();
    await checkOut(opened.job, ...all);
    return opened;
  }

  test('releases the locks of the job, and no others', async () => {
    const { stage, proxy, job } = await openMaps();
    const theirs = [await stage.takenByGrace(cave), await stage.take(moat)];
    await job.run(locking([arena, hero]));
    const before = proxy.passed.length;
    const result = await job.run(unlocking({ path: maps }));
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(result.outputs).toEqual({ status: 'released', released: JSON.stringify([arena]) });
    expect(proxy.passed.slice(before)).toMatchObject([{ method: 'DELETE', path: arena }]);
    expect((await stage.locks()).filter(({ path }) => path !== hero)).toEqual(theirs);
  });

  test('is absent if the job holds no matching lock', async () => {
    const { stage, job } = await openMaps();
    const theirs = await stage.takenByGrace(cave);
    const absent = await job.run(unlocking({ path: maps }));
    expect(absent).toMatchObject({ conclusion: 'success', outputs: { status: 'absent', released: '[]' } });
    expect(absent.log).toContain('Released 0 locks in ');
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('fails with a damaged ledger, because the job may hold more matching locks; a file name is not a pattern', async () => {
    const { stage, job } = await openMaps();
    await job.run(locking([arena, rock]));
    await appendFile(ledgerOf(job), '\n{"kind":"gra');
    const named = await job.run(unlocking({ path: `${rock}\n!Content/Deep/**` }));
    expect(named).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    const result = await job.run(unlocking({ path: `Content/Maps/A*\n${arena}` }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'released' } });
    expect(result.log).toContain('This job may have more locks');
    expect(await stage.locks()).toEqual([]);
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
