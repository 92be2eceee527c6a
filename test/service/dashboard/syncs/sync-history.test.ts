import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duration } from '../../../../src/service/dashboard/elements/time.ts';
import { chartSentence } from '../../../../src/service/dashboard/pages/duration-chart.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { type RunningService, startTestService } from '../../../support/running-service.ts';
import { type Visitor, visit } from '../browser-like.ts';
import { expectHarmless, hostileTexts } from '../hostile.ts';

let service: RunningService;
let visitor: Visitor;
let workspace: string;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  visitor = visit(service);
  await visitor.signIn((await service.token({ scopes: ['sync'] })).secret);
  workspace = await service.workspace();
});
afterAll(() => service.stop());

const idOf = (index: number): string => `sync_00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;

interface Past {
  readonly index: number;
  readonly branch?: string;
  readonly error?: string;
  readonly requestedBy?: string | null;
}

const insert = (syncs: readonly Past[], where = workspace) =>
  service.storage.commit('global', (db) =>
    db
      .insertInto('syncs')
      .values(
        syncs.map(({ index, branch = 'main', error = null, requestedBy = 'ada' }) => ({
          id: idOf(index),
          workspace_id: where,
          branch,
          status: error === null ? 'succeeded' : 'failed',
          estimated_objects: 10,
          received_objects: 1_234,
          head: error === null ? 'c0ffee' : null,
          error,
          attempts: 1,
          created_at: index * 1_000,
          started_at: index * 1_000,
          finished_at: index * 1_000 + 65_000,
          requested_by: requestedBy,
        })),
      )
      .execute(),
  );

const linked = (page: string): readonly string[] =>
  [...page.matchAll(/\/syncs\/(sync_[^"]+)"/g)].map(([, id = '']) => id);
const olderIn = (page: string): string | undefined =>
  /href="([^"]+)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');

describe('the history', () => {
  test('says what to do where nothing was synced yet', async () => {
    const page = (await visitor.get(`/workspaces/${await service.workspace()}/syncs`)).text;
    expect(page).toContain('Nothing has been synced yet.');
    expect(page).toContain('Choose a branch');
  });

  test('leads through all of it, the newest first, also of one branch', async () => {
    await insert(
      Array.from({ length: 120 }, (_, index) => ({
        index,
        branch: index % 2 === 0 ? 'main' : 'a b&c'.replace(' ', '+'),
      })),
    );
    const all: string[] = [];
    for (let next: string | undefined = `/workspaces/${workspace}/syncs`; next !== undefined; ) {
      const page: string = (await visitor.get(next)).text;
      all.push(...linked(page));
      next = olderIn(page);
    }
    expect(all).toEqual(Array.from({ length: 120 }, (_, index) => idOf(119 - index)));
    const first = (await visitor.get(`/workspaces/${workspace}/syncs?branch=${encodeURIComponent('a+b&c')}`)).text;
    const second = (await visitor.get(olderIn(first) ?? '')).text;
    expect([...linked(first), ...linked(second)]).toEqual(all.filter((_, index) => index % 2 === 0));
    expect(first).toContain('1,234');
    expect(first).toContain('1 min 5 s');
    expect(first).toContain('role="img" aria-label="Durations of 50 syncs');
    expect((await visitor.get(`/workspaces/${workspace}/syncs?branch=none`)).text).toContain('No sync of this branch');
  });

  test.each(['x', '1', `1.${'x'.repeat(41)}`, `1.${idOf(1)}'`, `-1.${idOf(1)}`])(
    'has no page at %s',
    async (before) => {
      const answer = await visitor.get(`/workspaces/${workspace}/syncs?before=${encodeURIComponent(before)}`);
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('There is no such page.');
    },
  );

  test('shows an error in full and harmless, behind its beginning when it is long', async () => {
    const other = await service.workspace();
    const long = `The first line.\nThe second line. ${'and more '.repeat(40)}the end`;
    await insert(
      [...hostileTexts, long].map((error, index) => ({ index: 500 + index, error, requestedBy: error })),
      other,
    );
    const page = (await visitor.get(`/workspaces/${other}/syncs`)).text;
    expectHarmless(page);
    expect(page).toMatch(
      /<details[^>]*><summary><bdi>The first line\.…<\/bdi><\/summary><pre>The first line\.\nThe second.*the end<\/pre>/s,
    );
    expect(page).toContain('exe\\u{202e}fdp.reward');
    for (const index of [500, 501, 502, 503, 504, 505]) {
      expectHarmless((await visitor.get(`/workspaces/${other}/syncs/${idOf(index)}`)).text);
    }
  });
});

describe('a sync', () => {
  test('is told of as it ended', async () => {
    const other = await service.workspace();
    await insert([{ index: 700 }, { index: 701, error: 'The remote hung up.', requestedBy: null }], other);
    const good = (await visitor.get(`/workspaces/${other}/syncs/${idOf(700)}`)).text;
    expect(good).toMatch(/succeeded.*1 min 5 s.*1,234.*c0ffee/s);
    expect(good).toMatch(/data-again>/);
    const bad = (await visitor.get(`/workspaces/${other}/syncs/${idOf(701)}`)).text;
    expect(bad).toContain('The remote hung up.');
    expect(bad).not.toContain(' by <bdi>');
  });

  test.each([
    ['', 800],
    ['/events', 801],
  ])('of another workspace, or none, is not there%s', async (path, index) => {
    await insert([{ index }], await service.workspace());
    for (const id of [idOf(index), idOf(999), 'sync_x', '%00']) {
      const answer = await visitor.get(`/workspaces/${workspace}/syncs/${id}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('has no such sync');
    }
  });

  test('that is over has one event for who listens, and then the stream ends', async () => {
    const other = await service.workspace();
    await insert([{ index: 900, error: '\u202Ea\nb' }], other);
    const address = `${service.baseUrl}/workspaces/${other}/syncs/${idOf(900)}/events`;
    const answer = await fetch(address, { headers: { cookie: visitor.cookie() } });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(text.match(/^event: progress$/gm)).toHaveLength(1);
    const [, data = ''] = /^event: progress\ndata: (.*)$/m.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({ status: 'failed', isOver: true, texts: { error: '\\u{202e}a\nb' } });
  });
});

test('a duration is as exact as a person compares', () => {
  expect([0, 420, 9_940, 9_951, 59_499, 59_500, 60_000, 200_000, 3_599_600, 7_500_000].map(duration)).toEqual([
    '0.0 s',
    '0.4 s',
    '9.9 s',
    '10 s',
    '59 s',
    '1 min',
    '1 min',
    '3 min 20 s',
    '1 h',
    '2 h 5 min',
  ]);
});

test('the sentence of the chart has what there is to see in it', () => {
  const took = (milliseconds: number, failed = false) => ({ milliseconds, failed });
  expect(chartSentence([took(1_000), took(20_000), took(2_000, true)])).toBe(
    'Durations of 3 syncs, oldest on the left: median 2.0 s, longest 20 s. 1 failed.',
  );
});
