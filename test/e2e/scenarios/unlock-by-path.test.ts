import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { type FaultProxy, isReleasing, type Manner } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { type Shipped, useShippedService } from './shipped.ts';
import { locking, soak, unlocking } from './stage.ts';
import { atEveryRequest, type Met, manners, meetAt, troubles } from './trouble.ts';

const shipped = useShippedService();

/** Pauses between attempts are not what is looked at. */
const env = { NODE_OPTIONS: fasterTime(10) };

interface Played {
  readonly path: string;
  /** The lock that was there when the step began. */
  readonly first: Lock | undefined;
  /** The lock that somebody took while it ran. */
  readonly theirs: Lock | undefined;
  readonly proxy: FaultProxy;
  readonly result: StepResult;
}

/** Whatever the step says is what the service did: and it did nothing to the lock that came later. */
async function expectTruth(place: Shipped, { path, first, theirs, proxy, result }: Played): Promise<void> {
  const now = await place.lockOn(path);
  const why = `${path}: ${JSON.stringify(result.outputs)}\n${result.log}`;
  if (theirs !== undefined) expect(now?.id, `theirs on ${why}`).toBe(theirs.id);
  const didRelease = proxy.passed.some((one) => isReleasing(one) && one.path === path && one.status === 204);
  const { status, released } = result.outputs;
  expect(JSON.parse(released ?? '[]'), why).toEqual(status === 'released' ? [path] : []);
  switch (status) {
    case 'released':
      expect(didRelease, why).toBe(true);
      expect(now?.id, why).not.toBe(first?.id);
      break;
    case 'absent':
      expect([didRelease, now], why).toEqual([false, undefined]);
      break;
    case 'held':
      // Where nothing tells whether it was done, the step says so and fails.
      if (result.log.includes('It is not known whether the lock')) expect(result.conclusion, why).toBe('failure');
      else expect([didRelease, now === undefined], why).toEqual([false, false]);
      break;
    default:
      // It was not this job's lock, so it cannot be lost; and where nothing is known, that is a failure.
      expect([status, result.conclusion], why).toEqual([undefined, 'failure']);
  }
}

type Taker = 'another job with the same token' | 'another owner';
const takers: readonly Taker[] = ['another job with the same token', ...(soak ? (['another owner'] as const) : [])];

const takenBy = (place: Shipped, taker: Taker, path: string): Promise<Lock> =>
  place.take(path, { ...(taker === 'another owner' && { token: place.graces }), origin: 'https://ci.example.com/7' });

describe.each(manners)('with a service that %s, an unlock of a path that the job never locked', (_, manner) => {
  test.each(troubles.flatMap(([name, fault]) => takers.map((taker) => [name, taker, fault] as const)))(
    'releases the lock that is there and no later one, whichever of its requests %s, and %s takes the path',
    async (_, taker, fault) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy(manner);
      const job = await place.job(proxy);
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
        // Where something proves which lock is meant, trouble that passes changes nothing.
        if (!manner.givesNoProof) expect(result.outputs['status'], result.log).toBe('released');
        return met;
      });
      expect(asked).toBeGreaterThan(0);
    },
  );
});

describe.each(manners.filter(([, { givesNoProof }]) => !givesNoProof))(
  'with a service that %s, an unlock of a path that the job never locked',
  (_, manner: Manner) => {
    test.each(takers)(
      'leaves the lock of %s alone that took the place of the one it has found, whenever that is',
      async (taker) => {
        const place = await shipped.workspace();
        const proxy = await place.proxy(manner);
        const job = await place.job(proxy);
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
        // It looks, and then it releases: there is a moment in between.
        expect(asked).toBeGreaterThanOrEqual(2);
      },
    );
  },
);

test('an unlock of a path on which nobody has a lock leaves alone the one that is taken in the meantime, whenever that is', async () => {
  const place = await shipped.workspace();
  const proxy = await place.proxy();
  const job = await place.job(proxy);
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
  'with a service that %s, an unlock of a path that the job wanted and did not get',
  (_, manner) => {
    test.each(troubles)(
      'leaves it to its holder, says who that is, and fails nothing, whichever of its requests %s',
      async (_, fault) => {
        const place = await shipped.workspace();
        const proxy = await place.proxy(manner);
        await atEveryRequest(async (number) => {
          const path = `Content/Hero-${number}.uasset`;
          const theirs = await takenBy(place, 'another owner', path);
          const job = await place.job(proxy);
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

test('an unlock of a path that the job wanted and did not get is absent when its holder has released it', async () => {
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
