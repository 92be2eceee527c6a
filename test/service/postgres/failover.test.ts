import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresServer } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { fakeSsh } from '../../support/git-ssh.ts';
import { ask } from '../../support/running-service.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';

/** The lease of the dead instance has to run out first: 30 s. */
const takeover = 60_000;

describe.skipIf(postgresServer === undefined)('instances that die (needs TEST_DATABASE_URL)', () => {
  test('a second instance takes over a sync whose instance was killed', { timeout: 2 * takeover }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'workspace-failover-'));
    const database = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(async () => {
      await database.remove();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    });
    const remote = createRepository(folder);
    remote.commit({ branch: 'main', files: { a: '1' } });
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, '');
    const ssh = await fakeSsh(folder, 'ssh', `while [ -e ${blocked} ]; do sleep 0.1; done`);
    const environment = { DATABASE_URL: database.url, GIT_SSH_COMMAND: ssh };
    const start = (name: string) => startServiceProcess({ folder: join(folder, name), environment });

    const first = await start('first');
    const address = `ssh://git@git.example.com${remote.path}`;
    const added = await runCommand(['workspace', 'add', 'game', '--remote', address, '--no-check'], {
      folder: join(folder, 'first'),
      environment,
    });
    expect(added.code).toBe(0);
    const { token } = first;
    const queued = await ask(first.baseUrl, 'POST', '/workspaces/game/sync', { token, json: { branch: 'main' } });
    expect(queued.status).toBe(202);
    const status = async (baseUrl: string) =>
      (await ask(baseUrl, 'GET', `/workspaces/game/syncs/${queued.body.sync_id}`, { token })).body;
    await expect.poll(async () => (await status(first.baseUrl)).status, { timeout: 20_000 }).toBe('running');
    await first.kill();

    const second = await start('second');
    onTestFinished(async () => void (await second.stop()));
    expect((await status(second.baseUrl)).status).toBe('running');
    await rm(blocked);
    await expect
      .poll(() => status(second.baseUrl), { timeout: takeover, interval: 250 })
      .toMatchObject({ status: 'succeeded', head: remote.head('main'), error: null });
  });
});
