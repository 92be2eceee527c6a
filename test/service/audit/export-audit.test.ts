import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditQuery, exportAudit, readAudit } from '../../../src/service/audit/read-audit.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';

const day = (number: number): number => Date.UTC(2020, 0, number);

/** More entries than one query examines for a workspace. */
const others = 10_500;

describe.each(databaseKinds)('a long audit on $name', (kind) => {
  const storage = sharedStorage(kind);

  beforeAll(async () => {
    const entry = (at: number, workspace: string, actor = 'ada') => ({
      at,
      actor,
      action: 'workspace.added',
      detail: JSON.stringify({ workspace, remote: '=1+1' }),
    });
    const entries = [
      ...[1, 1, 2, 3, 3].map((number, index) =>
        entry(day(number) + index, index === 2 ? 'film_2' : 'game', index === 1 ? '=1+1' : 'ada'),
      ),
      ...Array.from({ length: others }, (_, index) => entry(day(4) + index, 'filmx2')),
    ];
    for (let from = 0; from < entries.length; from += 1_000) {
      const some = entries.slice(from, from + 1_000);
      await storage.commit('global', (db) => db.insertInto('audit').values(some).execute());
    }
  });

  async function read(query: Omit<AuditQuery, 'limit'>, limit = 1_000) {
    const days: number[] = [];
    let pages = 0;
    for (let before: number | undefined; ; ) {
      const page = await readAudit(storage, { limit, ...query, before });
      days.push(...page.entries.map(({ at }) => new Date(at).getUTCDate()));
      pages += 1;
      if (page.next === undefined) return { days, pages };
      before = page.next;
    }
  }

  test('can be read between two days, page by page', async () => {
    expect(await read({ from: day(2), until: day(4) })).toMatchObject({ days: [3, 3, 2] });
    expect(await read({ until: day(4) }, 2)).toEqual({ days: [3, 3, 2, 1, 1], pages: 3 });
    expect(await read({ from: day(5) })).toEqual({ days: [], pages: 1 });
    expect((await read({ from: day(4) })).days).toHaveLength(others);
  });

  test('can be read for one workspace, without entries of another one with a similar name', async () => {
    expect(await read({ workspace: 'film_2' })).toEqual({ days: [2], pages: 2 });
    expect((await read({ workspace: 'game', from: day(3) })).days).toEqual([3, 3]);
  });

  const exported = async (format: 'csv' | 'jsonl', limit: number): Promise<string> => {
    const readPage = (before: number | undefined) => readAudit(storage, { limit, until: day(3), before });
    let text = '';
    for await (const part of exportAudit(format, readPage)) text += part;
    return text;
  };

  test('is exported as CSV with a header, a line for each entry and quoted details', async () => {
    const [head, first, ...more] = (await exported('csv', 2)).split('\r\n');
    expect(head).toBe('\uFEFFsequence,at,actor,token_id,address,action,detail');
    expect(first).toBe(
      '3,2020-01-02T00:00:00.002Z,ada,,,workspace.added,"{""workspace"":""film_2"",""remote"":""=1+1""}"',
    );
    expect(more).toHaveLength(3);
  });

  test('is exported as CSV with an apostrophe before a name that a spreadsheet would calculate', async () => {
    expect(await exported('csv', 2)).toContain("\r\n2,2020-01-01T00:00:00.001Z,'=1+1,,,workspace.added,");
  });

  test('is exported as JSON Lines', async () => {
    const lines = (await exported('jsonl', 2)).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([3, 2, 1]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ actor: 'ada', token_id: null, detail: { workspace: 'film_2' } });
  });
});
