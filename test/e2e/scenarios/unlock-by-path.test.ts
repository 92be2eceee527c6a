import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { type FaultProxy, isReleasing, type Passing, refusal } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { forms } from '../../support/runs.ts';
import { allManners, atEveryRequest, type Met, manners, meetAt, troubles } from './faults.ts';
import { locking, manyPaths, type Place, soak, unlocking } from './place.ts';
import { useShippedService } from './shipped.ts';

const shipped = useShippedService();

const hero = 'Content/Hero.uasset';
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
async function expectTruth(place: Place, { path, first, theirs, proxy, result }: Played): Promise<void> {
  const now = await place.lockOn(path);
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

type Taker = 'another job with the same token' | 'another owner';
const takers: readonly Taker[] = ['another job with the same token', ...(soak ? (['another owner'] as const) : [])];

const takenBy = (place: Place, taker: Taker, path: string): Promise<Lock> =>
  taker === 'another owner' ? place.takenByGrace(path) : place.take(path, { origin: 'https://ci.example.com/7' });

describe.each(manners)('with a service that %s, an unlock of a path that the job never locked', (_, manner) => {
  test.each(troubles.flatMap(([name, fault]) => takers.map((taker) => [name, taker, fault] as const)))(
    'releases the current lock and no later one, whichever request %s while %s takes the path',
    async (_, taker, fault) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy(manner);
      const job = await place.job();
      const asked = await atEveryRequest(async (number) => {
        const path = `Content/Hero-${number}.uasset`;
        const first = await place.take(path);
        let theirs: Lock | undefined;
        const met: Met = meetAt(proxy, number, fault, async () => {
          if ((await place.lockOn(path)) === undefined) theirs = await takenBy(place, taker, path);
        });
        const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
        await met.done();
        await expectTruth(place, { path, first, theirs, proxy, result });
        // If the lock can be identified, transient faults do not change the result.
        if (!manner.givesNoProof) expect(result.outputs['status'], result.log).toBe('released');
        return met;
      });
      expect(asked).toBeGreaterThan(0);
    },
  );
});

describe.each(forms(allManners, 0, 3))(
  'with a service that %s, an unlock of a path that the job never locked',
  (_, manner) => {
    test.each(['odd', 'even'])('leaves later locks alone, with a fault at every %s request', async (which) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy(manner);
      await place.take(hero);
      const taken = Promise.withResolvers<Lock>();
      let requests = 0;
      let released = false;
      // Takes the path as soon as it is free, before any other request is answered.
      async function takeOnceFree(): Promise<Lock> {
        await expect.poll(() => place.locks()).toEqual([]);
        return place.take(hero);
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
      const { outputs } = await (await place.job()).run({ ...unlocking({ path: hero }), env });
      expect(await place.locks()).toEqual([await taken.promise]);
      expect(['released', 'held']).toContain(outputs['status']);
    });

    test.each(['true', 'false'])(
      'releases the current lock, and identifies it if possible, with force: %s',
      async (force) => {
        const place = await shipped.workspace();
        const proxy = await place.proxy(manner);
        const found = await place.take(hero);
        await expect((await place.job()).run(unlocking({ path: hero, force }))).resolves.toMatchObject({
          conclusion: 'success',
          outputs: { status: 'released', released: JSON.stringify([hero]) },
        });
        expect(proxy.passed.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
        expect(proxy.passed[1]?.headers['if-match']).toBe(manner.givesNoProof ? undefined : `"${found.id}"`);
        expect(await place.locks()).toEqual([]);
      },
    );
  },
);

describe.each(manners.filter(([, { givesNoProof }]) => !givesNoProof))(
  'with a service that %s, an unlock of a path that the job never locked',
  (_, manner) => {
    test.each(takers)(
      'leaves alone a lock of %s that replaced the one it found, whenever that happens',
      async (taker) => {
        const place = await shipped.workspace();
        const proxy = await place.proxy(manner);
        const job = await place.job();
        const asked = await atEveryRequest(async (number) => {
          const path = `Content/Hero-${number}.uasset`;
          const first = await place.take(path);
          let theirs: Lock | undefined;
          const met = meetAt(proxy, number, undefined, async () => {
            if ((await place.lockOn(path)) !== undefined) await place.release(path);
            theirs = await takenBy(place, taker, path);
          });
          const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
          await met.done();
          await expectTruth(place, { path, first, theirs, proxy, result });
          return met;
        });
        // The step looks up the lock before it releases it, so the lock may change in between.
        expect(asked).toBeGreaterThanOrEqual(2);
      },
    );
  },
);

test('an unlock of a free path leaves alone a lock that is taken in the meantime', async () => {
  const place = await shipped.workspace();
  const proxy = await place.proxy();
  const job = await place.job();
  await atEveryRequest(async (number) => {
    const path = `Content/Hero-${number}.uasset`;
    let theirs: Lock | undefined;
    const met = meetAt(proxy, number, undefined, async () => {
      theirs = await takenBy(place, 'another job with the same token', path);
    });
    const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
    await met.done();
    expect(result, result.log).toMatchObject({
      conclusion: 'success',
      outputs: { status: expect.stringMatching(/^(absent|held)$/), released: '[]' },
    });
    expect((await place.lockOn(path))?.id).toBe(theirs?.id);
    return met;
  });
});

describe.each(manners)(
  'with a service that %s, an unlock of a path that the job requested but did not get',
  (_, manner) => {
    test.each(troubles)(
      'leaves the path to its holder, names the holder, and succeeds, whichever request %s',
      async (_, fault) => {
        const place = await shipped.workspace();
        const proxy = await place.proxy(manner);
        await atEveryRequest(async (number) => {
          const path = `Content/Hero-${number}.uasset`;
          const theirs = await takenBy(place, 'another owner', path);
          const job = await place.job();
          await expect(job.run(locking(path))).resolves.toMatchObject({ outputs: { status: 'held' } });
          const met = meetAt(proxy, number, fault, async () => undefined);
          const result = await job.run({ ...unlocking({ path, glob: 'false' }), env });
          await met.done();
          expect(result, result.log).toMatchObject({
            conclusion: 'success',
            outputs: { status: 'held', released: '[]' },
          });
          expect(result.log).toMatch(/grace/);
          proxy.meet(() => undefined);
          await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }, { conclusion: 'success' }]);
          expect(await place.lockOn(path)).toEqual(theirs);
          return met;
        });
      },
    );
  },
);

test('an unlock of a path that the job did not get reports it as absent after its holder released it', async () => {
  const place = await shipped.workspace();
  const theirs = await place.take('a', { token: place.graces });
  const job = await place.job();
  await job.run(locking('a'));
  await place.release(theirs.path);
  await expect(job.run(unlocking({ path: 'a' }))).resolves.toMatchObject({
    conclusion: 'success',
    outputs: { status: 'absent', released: '[]' },
  });
});

describe('an unlock of a path that the job never locked', () => {
  test.each(forms([403, 405], 0))(
    'sends one request, whatever happens to its response, if the service does not let it list locks (%s)',
    async (status) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy();
      await place.take(hero);
      proxy.meet((passing) => {
        if (isListing(passing)) return refusal(status);
        return isReleasing(passing) ? { kind: 'done-then-cut' } : undefined;
      });
      const result = await (await place.job()).run(unlocking({ path: hero }));
      expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', released: '[]' } });
      expect(result.annotations[0]?.message).toContain('sent only once');
      expect(proxy.passed.filter(isReleasing)).toHaveLength(1);
    },
  );

  test('releases only the locks of the job, and sends no other request, if the list is unavailable', async () => {
    const place = await shipped.workspace();
    const proxy = await place.proxy();
    const theirs = await place.take('c');
    const job = await place.job();
    await job.run(locking(['a', 'b']));
    proxy.meet((passing) => (isListing(passing) ? { kind: 'answer', status: 500 } : undefined));
    const result = await job.run(unlocking({ path: 'a\nb\nc', retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'released', released: '["a","b"]' } });
    expect(await place.locks()).toEqual([theirs]);
  });

  test('looks up many paths with one list, and releases only locked ones', async () => {
    const place = await shipped.workspace();
    const proxy = await place.proxy();
    const paths = manyPaths(40);
    for (const path of paths.slice(0, 10)) await place.take(path);
    const result = await (await place.job()).run(unlocking({ path: paths.join('\n') }));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
    expect(JSON.parse(result.outputs['released'] ?? '')).toEqual(paths.slice(0, 10));
    expect(proxy.passed.filter(isListing).map(({ url }) => url)).toEqual([
      expect.stringContaining('prefix=Content%2F&'),
    ]);
    expect(proxy.passed.filter(isReleasing)).toHaveLength(10);
    expect(await place.locks()).toEqual([]);
  });
});
