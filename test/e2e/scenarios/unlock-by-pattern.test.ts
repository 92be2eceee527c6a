import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { isReleasing, type Manner } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { Job } from '../../support/runner/job.ts';
import { type Shipped, useShippedService } from './shipped.ts';
import { unlocking } from './stage.ts';
import { atEveryRequest, manners, meetAt, troubles } from './trouble.ts';

const shipped = useShippedService();

const env = { NODE_OPTIONS: fasterTime(10) };

const maps = 'Content/Maps/**';

async function checkOut(job: Job, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const file = join(job.folders.workspace, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '');
  }
}

interface Maps {
  readonly job: Job;
  /** Locks of this job, and those that it never had. */
  readonly own: readonly string[];
  readonly others: readonly Lock[];
}

/** Six maps: two are this job's, three somebody else's (one of them it wanted, one is of its own token), and one nobody's. */
async function sixMaps(place: Shipped, folder: string, proxy = place.proxy()): Promise<Maps> {
  const map = (name: string): string => `Content/Maps/${folder}/${name}.umap`;
  const job = await place.job(await proxy);
  await checkOut(job, ...['Cave', 'City', 'Dunes', 'Fort', 'Lake', 'Moor'].map(map));
  const others = [
    await place.take(map('Dunes'), { origin: 'https://ci.example.com/7' }),
    await place.take(map('Fort'), { token: place.graces }),
    await place.take(map('Lake'), { token: place.graces }),
  ];
  const own = [map('Cave'), map('City')];
  await expect(job.run({ with: { operation: 'lock', path: own.join('\n') } })).resolves.toMatchObject({
    conclusion: 'success',
  });
  await expect(job.run({ with: { operation: 'lock', path: map('Lake') } })).resolves.toMatchObject({
    conclusion: 'failure',
  });
  return { job, own, others };
}

const onlyOthersLeft = async (place: Shipped, folder: string, others: readonly Lock[]): Promise<void> =>
  expect((await place.locks()).filter(({ path }) => path.includes(`/${folder}/`))).toEqual(others);

test('an unlock with a pattern and a path releases the lock on the path, whoever took it, and what this job holds of the rest', async () => {
  const place = await shipped.workspace();
  const { job, own, others } = await sixMaps(place, 'a');
  const named = others[0]?.path ?? '';
  const result = await job.run(unlocking({ path: `${maps}\n${named}` }));
  expect(result, result.log).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
  expect(JSON.parse(result.outputs['released'] ?? '[]')).toEqual([...own, named]);
  await onlyOthersLeft(place, 'a', others.slice(1));
});

describe.each(manners)('with a service that %s', (_, manner: Manner) => {
  test.each(troubles)(
    'an unlock with a pattern leaves the locks of others alone, whichever of its requests %s, and another job takes what is free',
    async (_, fault) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy(manner);
      await atEveryRequest(async (number) => {
        const folder = `at-${number}`;
        proxy.meet(() => undefined);
        const { job, own, others } = await sixMaps(place, folder, Promise.resolve(proxy));
        const taken: Lock[] = [];
        const met = meetAt(proxy, number, fault, async () => {
          const held = new Set((await place.locks()).map(({ path }) => path));
          for (const path of own) if (!held.has(path)) taken.push(await place.take(path));
        });
        const before = proxy.passed.length;
        const result = await job.run({ ...unlocking({ path: maps }), env });
        await met.done();
        const released = proxy.passed.slice(before).filter((one) => isReleasing(one) && one.status === 204);
        expect(new Set(released.map(({ path }) => path))).toEqual(new Set(own));
        const told: readonly string[] = JSON.parse(result.outputs['released'] ?? '[]');
        // Where nothing tells the lock of another from its own, it does not claim what it cannot know.
        if (manner.keepsNoTimes) expect(own, result.log).toEqual(expect.arrayContaining([...told]));
        else expect(told, result.log).toEqual(own);
        const left = [...taken, ...others].toSorted((one, other) => (one.path < other.path ? -1 : 1));
        await onlyOthersLeft(place, folder, left);
        return met;
      });
    },
  );
});
