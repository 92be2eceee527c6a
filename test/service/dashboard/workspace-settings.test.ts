import { expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { startGitHttpsServer } from '../../support/git-https-server.ts';
import { createRepository } from '../../support/git-repository.ts';
import { startTestService } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { untilWaiting } from '../http/shared-service.ts';
import { signedIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const form = {
  ...{ desk_ttl: '8h', lfs: 'head', lfs_url: '' },
  ...{ latest: 'off', latest_branches: '', release_on: '', push_locks: 'all' },
};

/** A service that trusts the certificate of a remote with a password, and a visitor with all scopes. */
async function started() {
  const folder = temporaryFolder();
  for (const name of ['game.git', 'moved.git']) {
    createRepository(folder, name).commit({ branch: 'main', files: { a: '1' } });
  }
  const authorization = `Basic ${Buffer.from('ada:s3cret').toString('base64')}`;
  const remote = await startGitHttpsServer({
    folder,
    answer(request, response) {
      if (request.headers.authorization === authorization) return false;
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      return true;
    },
  });
  const service = await startTestService(sqlite, {
    environment: { ...process.env, GIT_SSL_CAINFO: remote.certificate },
  });
  onTestFinished(() => service.stop());
  const visitor = await signedIn(service);
  const rowOf = (id: string) =>
    service.storage.read.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst();
  // Submits from a page that does not contact a remote.
  const send = (path: string, fields: Readonly<Record<string, string>>) => visitor.post(path, fields);
  return { remote, service, visitor, rowOf, send };
}

test('a workspace is added once its remote has answered, and its credentials are never shown', async () => {
  const { remote, service, visitor, rowOf, send } = await started();
  const address = remote.address('game.git');
  const add = (fields: Readonly<Record<string, string>>) =>
    send('/new-workspace', { ...form, id: 'game', remote: address, ...fields });

  for (const [fields, reason] of [
    [{ password: 'wr0ng', username: 'ada' }, 'could not list the branches'],
    [{ id: 'Game!' }, 'A workspace id has'],
    [{ remote: 'http://a.example/game' }, 'Plain http is refused'],
    [{ remote: '/etc/game.git' }, 'Repositories on the disk of the service are refused'],
    [{ remote: 'https://ada:wr0ng@a.example/x?y' }, 'must not have a query'],
    [{ desk_ttl: '31d' }, 'A lock lasts'],
    [{ latest: 'on' }, 'It must be one of refuse, warn, off.'],
    [{ latest_branches: 'a b' }, 'The name of a branch must not have a space'],
    [{ release_on: 'a..b' }, 'The name of a branch must not have two dots'],
    [{ lfs_url: 'https://a:b@c/d' }, 'It must not have a user name or a password'],
  ] as const) {
    const { status, text } = await add({ username: 'ada', password: 's3cret', ...fields });
    expect([fields, status]).toEqual([fields, 422]);
    expect(text).toContain('No workspace was added.');
    expect(text).toContain(reason);
    expect(text).not.toMatch(/s3cret|wr0ng/);
    expect(await rowOf('game')).toBeUndefined();
  }

  const added = await add({ username: 'ada', password: 's3cret' });
  expect([added.status, added.headers.get('location')]).toEqual([303, '/workspaces/game/branches']);
  expect(await rowOf('game')).toMatchObject({ remote: remote.address('game.git', 'ada:s3cret'), desk_ttl: '8h' });
  expect((await add({ username: 'ada', password: 's3cret' })).text).toContain(
    'A workspace with this name already exists',
  );
  const { text } = await visitor.get('/workspaces/game/settings');
  expect(text).toContain(`value="${address}"`);
  const seen = [text, (await visitor.get('/audit')).text, service.log()].join('\n');
  expect(seen).toContain('added the workspace');
  expect(seen).not.toContain('s3cret');
});

test('the settings of a workspace can change, and stored credentials are only sent to the same host', async () => {
  const { remote, rowOf, send, visitor } = await started();
  const stored = { ...form, id: 'game', remote: remote.address('game.git'), username: 'ada', password: 's3cret' };
  await send('/new-workspace', stored);
  const save = (fields: Readonly<Record<string, string>>) =>
    send('/workspaces/game/settings', {
      ...form,
      remote: remote.address('game.git'),
      username: '',
      password: '',
      ...fields,
    });

  const asked = remote.requests.length;
  expect((await save({ desk_ttl: '3d', lfs: 'none' })).headers.get('location')).toContain('notice=workspace-saved');
  expect(await rowOf('game')).toMatchObject({
    remote: remote.address('game.git', 'ada:s3cret'),
    desk_ttl: '3d',
    lfs_mode: 'none',
  });
  expect(remote.requests.length).toBe(asked);

  expect((await save({ remote: remote.address('moved.git') })).status).toBe(303);
  expect(await rowOf('game')).toMatchObject({ remote: remote.address('moved.git', 'ada:s3cret') });
  expect((await visitor.get('/audit')).text).toContain(remote.address('moved.git'));

  // Another name of the same machine is another host.
  const elsewhere = remote.address('game.git').replace('127.0.0.1', 'localhost');
  const before = remote.requests.length;
  const { status, text } = await save({ remote: elsewhere });
  expect([status, text]).toEqual([422, expect.stringContaining('Nothing was changed.')]);
  expect(remote.requests.slice(before).map(({ authorization }) => authorization)).toEqual([undefined]);
  expect(await rowOf('game')).toMatchObject({ remote: remote.address('moved.git', 'ada:s3cret') });
});

test('removing a workspace shows what is lost, and is refused until its locks are released', async () => {
  const { service, visitor, rowOf, send } = await started();
  const workspace = await service.workspace();
  const page = `/workspaces/${workspace}/remove`;
  const lock = await takeLock(service, workspace, visitor.secret, 'a');
  const held = await visitor.get(page);
  expect(held.text).toContain('1 lock is held in it.');
  expect(held.text).toMatch(/<li>.*a<.*, held by .*name="force" value="yes" required/s);
  const refused = await send(page, {});
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('1 lock is held')]);
  await send(`/workspaces/${workspace}/locks/release`, { path: 'a', lock: lock.id });
  expect((await visitor.get(page)).text).toMatch(/This removes:.*the mirror.*of locks<.*Remove workspace<\/button>/s);
  const removed = await send(page, {});
  expect([removed.status, removed.headers.get('location')]).toEqual([303, '/?notice=workspace-removed']);
  expect((await visitor.get('/?notice=workspace-removed')).text).toContain('The workspace was removed.');
  expect(await rowOf(workspace)).toBeUndefined();
  expect((await visitor.get(page)).status).toBe(404);
});

test('removing a workspace with locks takes a separate confirmation, and lists the locks that ended', async () => {
  const { service, visitor, rowOf, send } = await started();
  const workspace = await service.workspace();
  await takeLock(service, workspace, visitor.secret, 'Content/Held.uasset');
  const waiting = service.ask('GET', `/v1/workspaces/${workspace}/locks?path=Content/Held.uasset`, {
    token: visitor.secret,
    headers: { prefer: 'wait=30' },
  });
  await untilWaiting(service, visitor.secret, 1);
  const began = performance.now();
  const { status, text } = await send(`/workspaces/${workspace}/remove`, { force: 'yes' });
  expect(status).toBe(200);
  // The client that waits for the path is answered before its time limit.
  await waiting;
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(text).toMatch(/1 lock ended with it:.*Content\/Held\.uasset.*, held by /s);
  expect(await rowOf(workspace)).toBeUndefined();
});

test('the form sets the branches that locks are compared with, and shows them', async () => {
  const { remote, rowOf, send, visitor } = await started();
  const at = { id: 'game', remote: remote.address('game.git'), username: 'ada', password: 's3cret' };
  const compared = { latest: 'refuse', latest_branches: ' main, release/* ', release_on: 'main', push_locks: 'branch' };
  expect((await send('/new-workspace', { ...form, ...at, ...compared })).status).toBe(303);
  const stored = {
    ...{ latest: 'refuse', latest_branches: '["main","release/*"]' },
    ...{ release_on: 'main', push_locks: 'branch' },
  };
  expect(await rowOf('game')).toMatchObject(stored);
  const { text } = await visitor.get('/workspaces/game/settings');
  expect(text).toContain('value="main, release/*"');
  expect(text).toMatch(/value="refuse"[^>]* checked/);
  await send('/workspaces/game/settings', { ...form, ...at, username: '', password: '' });
  expect(await rowOf('game')).toMatchObject({
    latest: 'off',
    latest_branches: null,
    release_on: null,
    push_locks: 'all',
  });
});
