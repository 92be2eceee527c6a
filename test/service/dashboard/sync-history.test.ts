import { beforeAll, describe, expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeSyncs } from '../../support/stored-rows.ts';
import { type SignedIn, signedIn, urlIn } from './browser-like.ts';

const service = serviceOfTests();
let visitor: SignedIn;
let workspace: string;
beforeAll(async () => {
  visitor = await signedIn(service, { scopes: ['sync'] });
  workspace = await service.workspace();
});

const idOf = (index: number): string => `sync_00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;

interface Past {
  readonly index: number;
  readonly branch?: string;
  readonly error?: string;
  readonly lfs?: object;
}

const insert = (syncs: readonly Past[], where = workspace) =>
  storeSyncs(
    service.storage,
    ...syncs.map(({ index, branch = 'main', error = null, lfs = {} }) => ({
      id: idOf(index),
      workspace_id: where,
      branch,
      status: error === null ? 'succeeded' : 'failed',
      received_objects: 1_234,
      head: error === null ? 'c0ffee' : null,
      error,
      created_at: index * 1_000,
      started_at: index * 1_000,
      finished_at: index * 1_000 + 65_000,
      requested_by: 'ada',
      ...lfs,
    })),
  );

/** The times of the syncs on a page, which are their numbers. */
const listed = (page: string): readonly number[] =>
  [...page.matchAll(/data-label="Requested"><time datetime="([^"]+)"/g)].map(([, at = '']) => Date.parse(at) / 1_000);
const show = async (path: string, where = workspace) => (await visitor.get(`/workspaces/${where}/syncs${path}`)).text;

describe('the sync history', () => {
  test('says what to do if nothing has been synced yet', async () => {
    const page = await show('', await service.workspace());
    expect(page).toContain('Nothing has been synced yet.');
    expect(page).toContain('operation: sync');
  });

  test('leads through all syncs, newest first, also those of a single branch', async () => {
    await insert(Array.from({ length: 120 }, (_, index) => ({ index, branch: index % 2 === 0 ? 'main' : 'a+b&c' })));
    const all: number[] = [];
    for (let next = `/workspaces/${workspace}/syncs`; next !== ''; ) {
      const { text } = await visitor.get(next);
      all.push(...listed(text));
      next = urlIn(text, /href="([^"]+)" rel="next"/);
    }
    expect(all).toEqual(Array.from({ length: 120 }, (_, index) => 119 - index));
    const first = await show(`?branch=${encodeURIComponent('a+b&c')}`);
    const second = (await visitor.get(urlIn(first, /href="([^"]+)" rel="next"/))).text;
    expect([...listed(first), ...listed(second)]).toEqual(all.filter((_, index) => index % 2 === 0));
    expect(first).toContain('1,234');
    expect(first).toContain('65 s');
    expect(await show('?branch=none')).toContain('No sync of this branch');
  });

  test('has no page for an invalid position', async () => {
    for (const before of ['x', '1', `1.${'x'.repeat(41)}`, `1.${idOf(1)}'`, `-1.${idOf(1)}`]) {
      expect(await show(`?before=${encodeURIComponent(before)}`)).toContain('Unknown page.');
    }
  });

  test('shows results, errors, and the LFS objects that could not be fetched', async () => {
    const other = await service.workspace();
    const missing = [{ path: '<b>\u202Ehero', oid: 'a'.repeat(64), size: 1, detail: 'The store does not have it.' }];
    const lfs = {
      received_bytes: 1_500_000,
      total_bytes: 2_000_000,
      missing_objects: 12,
      missing: JSON.stringify(missing),
    };
    await insert([{ index: 700 }, { index: 701, error: '\u202Ea\nb' }], other);
    await insert([{ index: 702, lfs }], other);
    const page = await show('', other);
    expect(page).toMatch(/succeeded.*65 s.*1,234.*c0ffee.*<bdi>ada</s);
    expect(page).toContain('\\u{202e}a\nb</pre>');
    expect(page).toContain('1,234, 1.5 MB of LFS');
    expect(page).toContain('12 LFS objects could not be fetched. The next sync retries them.');
    expect(page).toContain('&lt;b&gt;\\u{202e}hero: The store does not have it.');
    expect(page).toContain('And 11 others.');
  });
});
