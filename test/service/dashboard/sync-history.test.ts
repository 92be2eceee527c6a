import { beforeAll, describe, expect, test } from 'vitest';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storeSyncs } from '../../support/stored-rows.ts';
import { type SignedIn, signedIn } from './browser-like.ts';

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
  readonly error?: string;
  readonly lfs?: object;
}

const insert = (syncs: readonly Past[], where = workspace) =>
  storeSyncs(
    service.storage,
    ...syncs.map(({ index, error = null, lfs = {} }) => ({
      id: idOf(index),
      workspace_id: where,
      branch: 'main',
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

  test('lists the last 100, newest first', async () => {
    await insert(Array.from({ length: 120 }, (_, index) => ({ index })));
    expect(listed(await show(''))).toEqual(Array.from({ length: 100 }, (_, index) => 119 - index));
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
