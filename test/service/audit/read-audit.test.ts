import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Actor, type AuditAction, readAudit, recordAudit } from '../../../src/service/audit/audit.ts';
import type { RecordedEntry } from '../../../src/service/outbox/event.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const ada: Actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
/** Another token of the same name. */
const otherAda: Actor = { name: 'ada', tokenId: 'tok_other', address: '2001:db8::7' };
const operator: Actor = { name: 'operator:root', tokenId: null, address: null };

const actors = [ada, otherAda, operator];
const actions: readonly AuditAction[] = ['token.created', 'lock.force-released', 'hook.removed'];

describe.each(databaseKinds)('the audit on $name', (kind) => {
  const storage = sharedStorage(kind);
  const recorded: RecordedEntry[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 60; n += 1) {
      const actor = actors[n % actors.length] ?? ada;
      const action = actions[(n * 7) % actions.length] ?? 'token.created';
      await storage.commit('global', (db) =>
        recordAudit(db, storage.now, { actor, action, detail: { n, nested: [null, { n }] } }),
      );
    }
    const { entries } = await readAudit(storage, { limit: 100 });
    recorded.push(...entries);
  });

  test('returns all recorded details, newest entry first', () => {
    expect(recorded.map(({ detail }) => detail)).toEqual(
      Array.from({ length: 60 }, (_, index) => ({ n: 59 - index, nested: [null, { n: 59 - index }] })),
    );
    expect(recorded.at(-2)).toEqual({
      sequence: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: 'ada',
      token_id: 'tok_other',
      address: '2001:db8::7',
      action: 'lock.force-released',
      detail: { n: 1, nested: [null, { n: 1 }] },
    });
  });

  test('returns the newest matching entries, and whether these are all', async () => {
    const query = fc.record({
      limit: fc.integer({ min: 1, max: 70 }),
      action: fc.option(fc.constantFrom(...actions), { nil: undefined }),
      actor: fc.option(fc.constantFrom('ada', 'tok_ada', 'tok_other', 'operator:root', 'nobody'), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const matching = recorded.filter(
          ({ action, actor, token_id }) =>
            (asked.action ?? action) === action && [actor, token_id, undefined].includes(asked.actor),
        );
        expect(await readAudit(storage, asked)).toEqual({
          entries: matching.slice(0, asked.limit),
          isComplete: matching.length <= asked.limit,
        });
      }),
      { numRuns: runs(30, 500) },
    );
  });

  test('goes back only as far as requested, by the clock of the database', async () => {
    const old = { actor: 'long ago', action: 'token.created', detail: '{}' };
    await storage.commit('global', (db) =>
      db
        .insertInto('audit')
        .values({ ...old, at: Date.now() - 7_200_000 })
        .execute(),
    );
    const actorsSince = async (seconds: number) =>
      new Set((await readAudit(storage, { limit: 100, since: { seconds } })).entries.map(({ actor }) => actor));
    expect(await actorsSince(3_600)).toEqual(new Set(['ada', 'operator:root']));
    expect(await actorsSince(10_800)).toEqual(new Set(['long ago', 'ada', 'operator:root']));
  });

  test('returns the entries of one workspace, without those of another one with a similar name', async () => {
    const entry = (workspace: string) => ({
      ...{ at: storage.now, actor: 'x', action: 'workspace.added' },
      detail: JSON.stringify({ workspace }),
    });
    const entries = ['film_2', 'filmx2'].map(entry);
    await storage.commit('global', (db) => db.insertInto('audit').values(entries).execute());
    const found = await readAudit(storage, { limit: 10, workspace: 'film_2' });
    expect(found.entries.map(({ detail }) => detail)).toEqual([{ workspace: 'film_2' }]);
  });

  test('returns entries that the service did not write itself, also with an unreadable detail', async () => {
    const details = ['{"a":1}', '{"a":1', '[1]', 'null'];
    const rows = details.map((detail) => ({ at: storage.now, actor: 'x', action: 'moon.landed', detail }));
    await storage.commit('global', (db) => db.insertInto('audit').values(rows).execute());
    const { entries } = await readAudit(storage, { limit: details.length });
    expect(entries).toMatchObject(
      [{ a: 1 }, ...details.slice(1).map((unreadable) => ({ unreadable }))]
        .map((detail) => ({ action: 'moon.landed', token_id: null, detail }))
        .toReversed(),
    );
  });
});
