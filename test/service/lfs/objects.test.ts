import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import { sharedService } from '../http/shared-service.ts';
import { expectLfsError, lfsOf } from './lfs-of.ts';

describe.each(databaseKinds)('objects over Git LFS on $name', (kind) => {
  const service = sharedService(kind);
  const batchOf = async (remote: string, lfs_url: string | null = null, token = service.secret) =>
    lfsOf(service, await service.workspace(remote, { lfs_url }), token).batch();

  test.each([
    ['https://git.example.com/studio/game', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com/studio/game/', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com/studio/game.git', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com:8443/game.git//', 'https://git.example.com:8443/game.git/info/lfs/objects/batch'],
  ])('of %s are at %s', async (remote, location) => {
    const { status, headers, body } = await batchOf(remote);
    expect([status, headers.get('location')]).toEqual([307, location]);
    expect(body.message).toContain(location.replace('/objects/batch', ''));
  });

  test('the credentials of the remote are in no answer', async () => {
    const { headers, text } = await batchOf('https://mirror:s3cret-password@git.example.com/game.git');
    expect(headers.get('location')).toBe('https://git.example.com/game.git/info/lfs/objects/batch');
    expect(text + JSON.stringify([...headers])).not.toMatch(/s3cret|mirror/);
  });

  test.each([
    'ssh://git@git.example.com/game.git',
    'git@git.example.com:game.git',
    'file:///srv/game.git',
    'not a remote',
  ])(
    'of %s are nowhere that is known, and the message says what to set; with --lfs-url they are there',
    async (remote) => {
      expect(expectLfsError(await batchOf(remote), 422)).toMatch(/workspace-service workspace update \S+ --lfs-url/);
      const { status, headers } = await batchOf(remote, 'https://lfs.example.com/game');
      expect([status, headers.get('location')]).toEqual([307, 'https://lfs.example.com/game/objects/batch']);
    },
  );

  test('any token that sees the workspace may ask, whatever it asks for', async () => {
    const { secret } = await service.token({ scopes: [] });
    const id = await service.workspace();
    const target = lfsOf(service, id, undefined).address;
    for (const body of ['{', '\u00ff', 'x'.repeat(100_000), '']) {
      const headers = [`Authorization: Basic ${btoa(`ada:${secret}`)}`];
      const answer = await requestRaw(service.port, {
        method: 'POST',
        target: `${target}/objects/batch`,
        headers,
        body,
      });
      expect(answer.status).toBe(307);
    }
  });
});
