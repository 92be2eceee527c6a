import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { has, runSnippet } from './as-documented.ts';
import { selfHosting, snippetWith } from './pages.ts';
import { afterBackup, beforeBackup, expectRestored, syncSample } from './service-history.ts';

let parent: string;
let folder: string;
let service: ServiceProcess;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'workspace-backup-'));
  folder = join(parent, 'data');
  service = await startServiceProcess({ folder });
});
afterEach(async () => {
  await service.kill();
  await rm(parent, { recursive: true, force: true, maxRetries: 3 });
});

const places = () => ({
  '/var/lib/workspace-service': folder,
  '/var/backups/workspace-service': join(parent, 'backups'),
  ' --owner=workspace-service': '',
  ' --group=workspace-service': '',
});

const query = (text: string): unknown[] => {
  const database = new DatabaseSync(join(folder, 'service.db'));
  try {
    return database.prepare(text).all();
  } finally {
    database.close();
  }
};

const audit = (): unknown[] => query('select actor, action from audit');

test('a backup of a running service on SQLite restores what it had', async (context) => {
  if (!(await has('sqlite3'))) leaveOut(context, 'There is no sqlite3 on this machine.');
  const history = await beforeBackup(service, {});
  query(`insert into sign_in_links (hash, created_at, expires_at) values ('h', 1, 9e15)`);
  const recorded = audit();
  expect(recorded.at(-1)).toMatchObject({ action: 'lock.force-released' });
  await runSnippet(snippetWith(selfHosting, 'VACUUM INTO'), places());
  const later = await afterBackup(service, {}, history);
  // As after a crash, with a journal that belongs to the lost database.
  await service.kill();
  expect(await readdir(folder)).toContain('service.db-wal');

  const [backup = ''] = await readdir(join(parent, 'backups'));
  const told = await runSnippet(snippetWith(selfHosting, '2026-03-01-040000.db'), {
    ...places(),
    '2026-03-01-040000.db': backup,
  });
  expect(told.trim().split('\n')).toEqual(['systemctl stop workspace-service', 'systemctl start workspace-service']);
  service = await startServiceProcess({ folder });
  await expectRestored(service, {}, later);
  expect(query('select hash from sign_in_links where used_at is null')).toEqual([]);
  // Starting with --dev created another token.
  expect(audit()).toEqual([...recorded, expect.objectContaining({ action: 'token.created' })]);
});

test('a removed mirror is fetched again in full', async () => {
  await syncSample(service);
  expect(await service.stop()).toBe(0);
  const mirrors = join(folder, 'mirrors');
  expect(await readdir(mirrors)).toEqual(['sample.git']);
  await runSnippet(snippetWith(selfHosting, '--recursive'), { ...places(), 'game.git': 'sample.git' });
  expect(await readdir(mirrors)).toEqual([]);
  service = await startServiceProcess({ folder });
  expect((await syncSample(service)).received_objects).toBeGreaterThan(0);
});
