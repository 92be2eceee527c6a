import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { createPostgresDatabase, postgresServer } from '../support/databases.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { has, runSnippet } from './as-documented.ts';
import { selfHosting, snippetWith } from './pages.ts';
import { afterBackup, beforeBackup, expectRestored } from './service-history.ts';

test.skipIf(postgresServer === undefined)(
  'a backup of a running service on PostgreSQL restores what it had (needs TEST_DATABASE_URL)',
  async () => {
    expect(await has('pg_dump')).toBe(true);
    const folder = await mkdtemp(join(tmpdir(), 'workspace-backup-'));
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    const { hostname, port, username, password, pathname } = new URL(url);
    const environment = { DATABASE_URL: url };
    const start = () => startServiceProcess({ folder: join(folder, 'data'), environment });
    let service = await start();
    try {
      const passwords = join(folder, 'pgpass');
      await writeFile(passwords, `*:*:*:*:${decodeURIComponent(password)}\n`, { mode: 0o600 });
      const replaced = {
        'PGHOST=db.example.com': `PGHOST=${hostname} PGPORT=${port}`,
        'PGUSER=workspace ': `PGUSER=${username} `,
        '/etc/workspace-service/pgpass': passwords,
        '/var/backups/workspace-service': folder,
        '--dbname=workspace': `--dbname=${pathname.slice(1)}`,
        'workspace.dump workspace': `workspace.dump ${pathname.slice(1)}`,
      };
      const path = { PATH: [process.env['PATH'], '/usr/bin'].join(delimiter) };
      const history = await beforeBackup(service, environment);
      await runSnippet(snippetWith(selfHosting, 'pg_dump'), replaced, path);
      const later = await afterBackup(service, environment, history);
      await service.stop();
      await runSnippet(snippetWith(selfHosting, 'pg_restore'), replaced, path);
      service = await start();
      await expectRestored(service, environment, later);
    } finally {
      await service.kill();
      await remove();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);
