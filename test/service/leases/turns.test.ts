import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { keyedRequest } from '../../../src/service/idempotency/idempotency.ts';
import { blockedNow } from '../../../src/service/locks/take.ts';
import { waitIds } from '../../../src/service/locks/wait-terms.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf, locksOn } from '../locks/taken-locks.ts';

const actor = { name: 'ada', tokenId: null, address: null };
const terms = { ttl: valueIn(parseTtl('1h')), origin: null, note: null } as const;
const pathOf = (path: string) => valueIn(parseLockPath(path));
const options = { seconds: 30, urgency: 3, gone: AbortSignal.any([]), authenticate: async () => undefined };

describe.each(databaseKinds)('the turns of waiting requests, on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });
  const bearer = bearerOf('ada');
  let ids = 0;

  /** Requests at one instance, with their attempts, and what they hold. */
  function createLine() {
    const locks = locksOn(storage, (error) => expect.unreachable(String(error)));
    const waiting = new Map<string, { readonly paths: readonly string[]; readonly wanted: number }>();
    const held: { readonly paths: readonly string[]; release(): Promise<unknown> }[] = [];
    let attempts = 0;
    const compare = async () => {
      attempts += 1;
      return { latest: 'refuse', outdated: [], as_of: null } as const;
    };

    async function single(path: string): Promise<void> {
      ids += 1;
      const keyed = keyedRequest({ tokenId: bearer.id, workspace: 'game', key: `key-${ids}` }, []);
      const waitId = waitIds.ofRequest(keyed, { workspace: 'game', path });
      const request = { ...terms, workspace: 'game', path: pathOf(path), bearer };
      waiting.set(waitId, { paths: [path], wanted: 1 });
      await locks.acquire(keyed, { ...request, compare }, options);
      waiting.delete(waitId);
      const release = { workspace: 'game', path, bearer, actor, force: false, match: () => true };
      held.push({ paths: [path], release: () => locks.release(release) });
    }

    async function lease(paths: readonly string[], wanted = paths.length): Promise<void> {
      ids += 1;
      const key = { workspace: 'game', id: `lease-${ids}` };
      const waitId = waitIds.ofLease(key);
      const readPaths = async () => paths.map(pathOf);
      const request = { ...terms, ...key, bearer, fingerprint: key.id, readPaths, count: wanted, compare };
      waiting.set(waitId, { paths, wanted });
      const decision = await locks.acquireLease(request, options);
      waiting.delete(waitId);
      const taken = decision.kind === 'granted' ? decision.locks.map(({ path }) => path) : expect.unreachable();
      held.push({ paths: taken, release: () => locks.endLease(key, bearer, () => undefined) });
    }

    /** The waiting requests that would be granted if they were made now. */
    async function grantable(): Promise<string[]> {
      const found = [...waiting].map(async ([waitId, { paths, wanted }]) => {
        const keys = paths.map((path) => ({ workspace: 'game', path }));
        const { count } = await blockedNow(storage.read, { keys, wanted, waitId, bearer });
        return keys.length - count < wanted ? [] : [waitId];
      });
      return (await Promise.all(found)).flat();
    }
    const inLine = async (count: number) => {
      const rows = () => storage.read.selectFrom('waits').select('id').execute();
      await expect.poll(rows, { interval: 10 }).toHaveLength(count);
    };
    return { locks, single, lease, waiting, held, attempts: () => attempts, grantable, inLine };
  }

  test.each<[string, (index: number) => readonly [paths: readonly string[], wanted?: number]]>([
    ['they share a path', (index) => [['hot', `own/${index}`]]],
    ['they want one of a pool', () => [['hot', 'seat/1', 'seat/2', 'seat/3'], 1]],
  ])('one release is an attempt of the first lease only, if %s', async (_, wish) => {
    const { locks, lease, held, attempts, inLine } = createLine();
    const all = ['hot', 'seat/1', 'seat/2', 'seat/3'];
    for (const path of all) await lease([path]);
    const leases: Promise<void>[] = [];
    for (let index = 0; index < 30; index += 1) {
      leases.push(lease(...wish(index)));
      await inLine(index + 1);
    }
    for (let granted = 1; granted <= 30; granted += 1) {
      await locks.keepPresent();
      const before = attempts();
      const holder = held.findIndex(({ paths }) => paths.includes('hot'));
      await held.splice(holder, 1)[0]?.release();
      await leases[granted - 1];
      expect(attempts() - before).toBe(1);
    }
    await Promise.all(held.splice(0).map(({ release }) => release()));
  });

  const path = fc.constantFrom('a', 'b', 'c', 'd');
  const pathsOf = (count: number) => fc.uniqueArray(path, { minLength: count, maxLength: count });
  const request = fc.oneof(
    pathsOf(1).map((paths) => ({ kind: 'single', paths })),
    pathsOf(2).map((paths) => ({ kind: 'all', paths })),
    pathsOf(3).map((paths) => ({ kind: 'some', paths, wanted: 1 })),
    pathsOf(3).map((paths) => ({ kind: 'some', paths, wanted: 2 })),
    pathsOf(1).map((paths) => ({ kind: 'ask', paths })),
  );

  test('nobody sleeps while all that they want is free', async () => {
    const scenario = fc.asyncProperty(
      fc.array(request, { minLength: 10, maxLength: 15 }),
      fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      async (requests, choices) => {
        const { locks, single, lease, waiting, held, grantable } = createLine();
        for (const path of ['a', 'b', 'c', 'd']) await lease([path]);
        const people: (() => Promise<unknown>)[] = [];
        const granted = requests.map(async ({ kind, paths, ...more }, index) => {
          const [first = ''] = paths;
          if (kind === 'single') return single(first);
          if (kind !== 'ask') return lease(paths, 'wanted' in more ? more.wanted : undefined);
          const person = { workspace: 'game', path: pathOf(first), bearer: bearerOf(`person ${index}`) };
          people.push(() => locks.withdraw(person));
          await locks.askFor({ ...person, note: null });
        });
        for (const choice of choices) {
          await locks.keepPresent();
          // A person may leave, too. Until then, nobody notifies them.
          const [end] = held.length > 0 ? held.splice(choice % held.length, 1) : [];
          await (end === undefined ? people.pop()?.() : end.release());
          await expect.poll(grantable, { interval: 10, timeout: 2_000 }).toEqual([]);
        }
        for (const withdraw of people.splice(0)) await withdraw();
        while (waiting.size > 0) {
          await Promise.all(held.splice(0).map(({ release }) => release()));
          await expect.poll(() => held.length, { interval: 10, timeout: 2_000 }).toBeGreaterThan(0);
        }
        await Promise.all(granted);
        await Promise.all(held.splice(0).map(({ release }) => release()));
      },
    );
    await fc.assert(scenario, { numRuns: runs(3, 100) });
  });

  test('a lease is not left asleep by a person whose turn it was, until the rest of its paths became free', async () => {
    const { locks, single, lease, held, inLine } = createLine();
    await single('a');
    await single('b');
    const set = lease(['a', 'b']);
    await inLine(1);
    const person = { workspace: 'game', path: pathOf('a'), bearer: bearerOf('bob') };
    await locks.askFor({ ...person, note: null });
    for (const { release } of held.splice(0)) {
      await release();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await set;
    await locks.withdraw(person);
    await Promise.all(held.splice(0).map(({ release }) => release()));
  });
});
