import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byRank, type Lines, nextInLine, type Waiting } from '../../../src/service/locks/next-in-line.ts';
import { runs } from '../../support/runs.ts';

const paths = ['a', 'b', 'c', 'd'];
const minuteMs = 60_000;
const passedForMs = 5 * minuteMs;

interface Lease {
  readonly id: string;
  readonly rank: number;
  readonly wanted: number;
  readonly paths: readonly string[];
}

const lease = fc
  .record({ paths: fc.uniqueArray(fc.constantFrom(...paths), { minLength: 1 }), wanted: fc.nat(), level: fc.nat(2) })
  .map(({ paths, wanted, level }) => ({ paths, wanted: 1 + (wanted % paths.length), level }));

interface Client extends Waiting {
  readonly free: readonly string[];
}

const waitingAt = (leases: readonly Lease[], held: ReadonlySet<string>, keeps: (lease: Lease) => boolean): Client[] =>
  leases.map((each) => ({
    ...each,
    size: each.paths.length,
    free: each.paths.filter((path) => !held.has(path)),
    keeps: keeps(each),
  }));

const workspace = 'game';

/** The lines of these clients, without a database. */
const linesOf = (waiting: readonly Client[], most = (count: number) => count): Lines<Client> => ({
  first: async (asked, count) =>
    asked.flatMap(({ path, before, after }, index) => {
      const line = waiting.filter((each) => each.free.includes(path) && each.rank > after).toSorted(byRank);
      const upTo = line[most(count) - 1]?.rank ?? Number.POSITIVE_INFINITY;
      return line.flatMap((lease) => (lease.rank <= upTo && lease.rank < before ? { index, lease } : []));
    }),
  withEnough: async (sets) =>
    sets
      .filter(({ free, wanted }) => free.length >= wanted)
      .map(({ id, rank }) => ({ id, isFirst: waiting.every((each) => each.rank >= rank) ? 1 : 0 })),
  free: async (sets) => sets.flatMap(({ id, free }) => free.map((path) => ({ id, workspace, path }))),
});

async function spokenForIn(waiting: readonly Client[]): Promise<ReadonlyMap<string, Client>> {
  const free = [...new Set(waiting.flatMap((each) => each.free))];
  const next = await nextInLine(
    linesOf(waiting, (count) => (count > 1 ? 3 : 1)),
    free.map((path) => ({ workspace, path })),
  );
  return new Map(free.flatMap((path, index) => (next[index] === undefined ? [] : [[path, next[index]] as const])));
}

/** The leases that get enough paths. */
async function grantedOf(waiting: readonly Client[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const spokenFor = Map.groupBy(await spokenForIn(waiting), ([, { id }]) => id);
  const enough = waiting.flatMap(({ id, wanted }) => {
    const own = spokenFor.get(id)?.map(([path]) => path) ?? [];
    return own.length >= wanted ? [[id, own.slice(0, wanted)] as const] : [];
  });
  return new Map(enough);
}

const lines = fc.record({
  leases: fc
    .array(lease, { maxLength: 8 })
    .map((all) =>
      all.map(({ level, ...each }, index): Lease => ({ ...each, id: `lease ${index}`, rank: index + level * 3 })),
    ),
  held: fc.uniqueArray(fc.constantFrom(...paths)).map((all) => new Set(all)),
  kept: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
});

/** All leases decided in their order, as a reader of the rules would. */
function decideAll(waiting: readonly Client[]): ReadonlyMap<string, Client> {
  const spokenFor = new Map<string, Client>();
  for (const each of waiting.toSorted(byRank)) {
    const open = each.free.filter((path) => !spokenFor.has(path));
    const kept = open.length >= each.wanted ? open.slice(0, each.wanted) : each.keeps ? open : [];
    for (const path of kept) spokenFor.set(path, each);
  }
  return spokenFor;
}

test('follows each line only as far as needed, with the result of a look at all leases', async () => {
  await fc.assert(
    fc.asyncProperty(lines, fc.nat(7), fc.nat(3), fc.integer({ min: 1, max: 4 }), async (line, own, first, most) => {
      // Equal ranks are ordered by id, but only among leases that are read together.
      const leases = line.leases.map((each, index) => ({ ...each, rank: each.rank * 8 + index }));
      const waiting = waitingAt(leases, line.held, ({ id }) => line.kept[Number(id.split(' ')[1])] === true);
      const free = [...new Set(waiting.flatMap((each) => each.free))];
      const asked = free.slice(first).map((path) => ({ workspace, path }));
      const all = decideAll(waiting);
      const found = await nextInLine(
        linesOf(waiting, () => most),
        asked,
      );
      expect(found.map((next) => next?.id)).toEqual(asked.map(({ path }) => all.get(path)?.id));
      // Those after a lease do not matter to it.
      const before = waiting[own];
      if (before === undefined) return;
      const ahead = decideAll(waiting.filter(({ rank }) => rank < before.rank));
      const foundAhead = await nextInLine(
        linesOf(waiting, () => most),
        asked.map((path) => ({ ...path, before: before.rank })),
      );
      expect(foundAhead.map((next) => next?.id)).toEqual(asked.map(({ path }) => ahead.get(path)?.id));
    }),
    { numRuns: runs(500, 10_000) },
  );
});

test('ends, even if leases change between the queries, as outside of a transaction', async () => {
  const change = fc.record({ lease: fc.nat(7), rank: fc.nat(60), held: fc.constantFrom(...paths), gone: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(lines, fc.array(change, { maxLength: 12 }), async ({ leases, held, kept }, changes) => {
      let waiting = waitingAt(leases, held, ({ id }) => kept[Number(id.split(' ')[1])] === true);
      const left = changes.values();
      const changing =
        <Arguments extends unknown[], Result>(
          query: (...asked: Arguments) => Promise<Result>,
        ): ((...asked: Arguments) => Promise<Result>) =>
        async (...asked) => {
          const result = await query(...asked);
          const { lease, rank, held: path, gone } = left.next().value ?? { lease: -1, rank: 0, held: '', gone: false };
          waiting = waiting.flatMap((each, index) => {
            if (index !== lease) return each;
            return gone ? [] : { ...each, rank, free: each.free.filter((one) => one !== path) };
          });
          return result;
        };
      const now: Lines<Client> = {
        first: changing((...asked) => linesOf(waiting, () => 2).first(...asked)),
        withEnough: changing((...asked) => linesOf(waiting).withEnough(...asked)),
        free: changing((...asked) => linesOf(waiting).free(...asked)),
      };
      const all = paths.map((path) => ({ workspace, path }));
      expect(await nextInLine(now, all)).toHaveLength(paths.length);
    }),
    { numRuns: runs(1_000, 30_000) },
  );
});

test('overtakes a lease only on a path that cannot complete it, and never once its paths are kept', async () => {
  await fc.assert(
    fc.asyncProperty(lines, async ({ leases, held, kept }) => {
      const waiting = waitingAt(leases, held, ({ id }) => kept[Number(id.split(' ')[1])] === true);
      const granted = await grantedOf(waiting);
      const spokenFor = await spokenForIn(waiting);
      for (const passed of waiting.filter(({ id }) => !granted.has(id))) {
        const better = (path: string) => {
          const other = spokenFor.get(path);
          return other !== undefined && other.id !== passed.id && other.rank <= passed.rank;
        };
        // Too few paths are open to it, without those before it.
        expect(passed.free.filter((path) => !better(path)).length).toBeLessThan(passed.wanted);
        if (!passed.keeps) continue;
        for (const path of passed.free.filter((each) => !better(each))) expect(spokenFor.get(path)?.id).toBe(passed.id);
      }
    }),
    { numRuns: runs(300, 5_000) },
  );
});

/** Clients that come, hold what they are granted for a while, and go: minute by minute, with the times of the service. */
test('leaves nobody waiting for others who came more than one priority level later', async () => {
  const client = fc.record({ lease, arrives: fc.nat(20), holds: fc.integer({ min: 1, max: 6 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(client, { minLength: 1, maxLength: 14 }), async (clients) => {
      const arrival = (index: number) => (clients[index]?.arrives ?? 0) * minuteMs;
      const all = clients.map(({ lease: { level, ...each } }, index): Lease => {
        return { ...each, id: `lease ${index}`, rank: arrival(index) + (level - 1) * passedForMs };
      });
      const grantedAt = new Map<string, number>();
      const holders = new Map<string, { readonly id: string; readonly until: number }>();
      for (let now = 0; now < 600 * minuteMs && grantedAt.size < all.length; now += minuteMs) {
        for (const [path, { until }] of holders) if (until <= now) holders.delete(path);
        const present = all.filter(({ id }, index) => arrival(index) <= now && !grantedAt.has(id));
        const since = (id: string) => arrival(Number(id.split(' ')[1]));
        const waiting = waitingAt(present, new Set(holders.keys()), ({ id }) => now - since(id) >= passedForMs);
        for (const [id, own] of await grantedOf(waiting)) {
          grantedAt.set(id, now);
          const until = now + (clients[Number(id.split(' ')[1])]?.holds ?? 1) * minuteMs;
          for (const path of own) {
            expect(holders.has(path), `a second holder of ${path}`).toBe(false);
            holders.set(path, { id, until });
          }
        }
      }
      // Everybody is served, and anyone who came at least five minutes later with a worse rank never took a path from it after that.
      expect(grantedAt.size).toBe(all.length);
      for (const [index, one] of all.entries()) {
        for (const other of all) {
          const at = grantedAt.get(other.id) ?? 0;
          const isWhole = one.wanted === one.paths.length;
          const overlaps =
            isWhole && other.wanted === other.paths.length && other.paths.some((path) => one.paths.includes(path));
          if (!overlaps || one.rank >= other.rank || at >= (grantedAt.get(one.id) ?? 0)) continue;
          expect(at - arrival(index), `${other.id} before ${one.id}`).toBeLessThan(passedForMs);
        }
      }
    }),
    { numRuns: runs(200, 3_000) },
  );
});
