import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { run, json, ask } = besideService();

async function fileOf(items: unknown): Promise<string> {
  const file = join(temporaryFolder(), 'items.json');
  await writeFile(file, typeof items === 'string' ? items : JSON.stringify(items));
  return file;
}

const readPool = async (name: string) => (await ask('GET', `/workspaces/sample/pools/${name}`)).body;

test('pools are added, changed, listed and removed, and the running service sees each change', async () => {
  const seats = await fileOf([
    { path: 'seats/1', properties: { serial: 's3cret-1', host: 'b1' }, secret: ['serial'] },
    ...[{ path: 'seats/2' }, { path: 'seats\\3' }],
  ]);
  const added = await run('pool', 'add', 'sample', 'unity-pro', seats);
  expect(added).toEqual({
    code: 0,
    stdout: 'Added the pool "unity-pro" of the workspace "sample". It has 3 items.\n',
    stderr: '',
  });
  expect(await readPool('unity-pro')).toEqual({
    name: 'unity-pro',
    items: [
      { path: 'seats/1', properties: { host: 'b1' }, secret: ['serial'] },
      { path: 'seats/2', properties: {}, secret: [] },
      { path: 'seats/3', properties: {}, secret: [] },
    ],
  });
  const file = await fileOf([
    { path: 'seats/1', properties: { host: 'b1' } },
    { path: 'seats/2', properties: { serial: 's3cret-2, with a comma' }, secret: ['serial'] },
    { path: 'seats/4' },
  ]);
  const changed = await json('pool', 'update', 'sample', 'unity-pro', file);
  const left = [
    { path: 'seats/1', properties: { host: 'b1' }, secret: [] },
    { path: 'seats/2', properties: {}, secret: ['serial'] },
    { path: 'seats/4', properties: {}, secret: [] },
  ];
  expect(changed).toEqual({ workspace: 'sample', name: 'unity-pro', items: left });
  expect((await readPool('unity-pro')).items).toEqual(left);
  expect(await json('pool', 'list', 'sample')).toEqual({ pools: [changed] });
  const listed = await run('pool', 'list', 'sample');
  expect(listed.stdout.split('\n')).toEqual([
    'POOL       PATH     PROPERTIES',
    'unity-pro  seats/1  host=b1',
    'unity-pro  seats/2  serial=***',
    'unity-pro  seats/4  -',
    '',
  ]);
  expect(await json('pool', 'remove', 'sample', 'unity-pro')).toEqual({ removed: 'unity-pro' });
  expect((await ask('GET', '/workspaces/sample/pools')).body).toEqual({ pools: [] });

  const { entries } = await json('audit', '--limit', '3');
  const pool = { workspace: 'sample', pool: 'unity-pro' };
  expect(entries).toMatchObject([
    { action: 'pool.removed', detail: pool },
    { action: 'pool.updated', detail: { ...pool, set: { count: 3, first: ['seats/1', 'seats/2', 'seats/4'] } } },
    { action: 'pool.added', detail: { ...pool, set: { count: 3, first: ['seats/1', 'seats/2', 'seats/3'] } } },
  ]);
  expect(JSON.stringify([entries, added, changed, listed])).not.toContain('s3cret');
});

test('an invalid change of a pool changes nothing, and the error says why', async () => {
  const one = await fileOf([{ path: 'macs/1' }]);
  await run('pool', 'add', 'sample', 'macs', one);
  const before = await readPool('macs');
  const broken = await fileOf('["s3cret"');
  const add = ['add', 'sample'];
  const update = ['update', 'sample', 'macs'];
  const tooMany = await fileOf(Array.from({ length: 1_001 }, (_, index) => ({ path: `macs/${index}` })));
  for (const [args, code, text] of [
    [[...add, 'macs', one], 1, 'The pool "macs" already exists.'],
    [[...add, 'big', tooMany], 1, 'The pool "big" would have 1001 items. The maximum is 1000.'],
    [[...add, 'Big', one], 2, 'A pool name has'],
    [[...add, 'new'], 2, 'FILE is missing: a file of items.'],
    [['add', 'smaple', 'new', one], 1, 'There is no workspace "smaple". Did you mean sample?'],
    [[...update, await fileOf([])], 1, 'The pool "macs" would be empty. Remove it with'],
    [[...update, broken], 1, 'cannot be used. They must be JSON.'],
    [[...update, `${broken}.none`], 1, 'it does not exist'],
    [['update', 'sample', 'mac', one], 1, 'The workspace "sample" has no pool "mac". Its pools are macs.'],
    [['remove', 'sample', 'mac'], 1, 'The workspace "sample" has no pool "mac". Its pools are macs.'],
    [['list', 'none'], 1, 'There is no workspace "none".'],
  ] as const) {
    const result = await run('pool', ...args);
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(text) });
    expect(result.stderr).not.toContain('s3cret');
  }
  expect((await ask('GET', '/workspaces/sample/pools')).body).toEqual({ pools: [before] });
});
