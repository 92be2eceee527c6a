import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresServer } from '../../support/databases.ts';
import { postgresOfTests } from '../../support/postgres-of-tests.ts';
import { ask } from '../../support/running-service.ts';
import {
  type CommandResult,
  runCommand,
  type ServiceProcess,
  startServiceProcess,
} from '../../support/service-process.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

describe.skipIf(postgresServer === undefined)('the command on PostgreSQL (needs TEST_DATABASE_URL)', () => {
  const parent = folderOfTests();
  const url = postgresOfTests();
  const services: ServiceProcess[] = [];

  beforeAll(async () => {
    // Two services start at the same time on an empty database, each with its own folder.
    services.push(...(await Promise.all(['one', 'two'].map(start))));
  });
  afterAll(async () => {
    for (const service of services) expect(await service.stop()).toBe(0);
  });

  const start = (name: string): Promise<ServiceProcess> =>
    startServiceProcess({ folder: join(parent, name), environment: { DATABASE_URL: url() } });
  const run = (args: readonly string[], DATABASE_URL = url()): Promise<CommandResult> =>
    runCommand(args, { folder: join(parent, 'commands'), environment: { DATABASE_URL } });
  const json = async (...args: string[]) => JSON.parse((await run([...args, '--json'])).stdout);

  test('works with all instances, without a data folder', async () => {
    const { token, secret } = await json('token', 'create', '--name', 'ci', '--scopes', 'locks:write');
    for (const { baseUrl } of services) {
      expect((await ask(baseUrl, 'GET', '/workspaces', { token: secret })).body.workspaces).toHaveLength(1);
    }
    const lock = { path: 'Content/Hero.uasset', type: 'exclusive', ttl: '1h' };
    const [one = '', two = ''] = services.map(({ baseUrl }) => baseUrl);
    const take = { token: secret, json: lock };
    expect((await ask(one, 'POST', '/workspaces/sample/locks', take)).status).toBe(201);
    expect((await ask(two, 'POST', '/workspaces/sample/locks', take)).status).toBe(409);
    expect((await run(['workspace', 'remove', 'sample'])).code).toBe(1);
    expect(await json('token', 'revoke', token.id)).toEqual({ id: token.id, state: 'revoked' });
    expect((await ask(one, 'GET', '/workspaces', { token: secret })).status).toBe(401);
    await expect(access(join(parent, 'commands'))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['a wrong password', { password: 's3cret-wrong' }, 'it rejects the user or the password.'],
    ['a missing database', { pathname: '/s3cret-none' }, 'the database does not exist.'],
  ])('reports %s in one sentence', async (_, change, sentence) => {
    const { code, stdout, stderr } = await run(['token', 'list'], Object.assign(new URL(url()), change).href);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`workspace-service: The database in DATABASE_URL cannot be used: ${sentence}\n`);
  });
});
