import { expect, test } from 'vitest';
import { json } from '../support/other-servers/responses.ts';
import { clientOf, game, lockPath } from './test-client.ts';

const since = '2026-03-01T10:00:00.000Z';
const place = { path: 'a', position: 2, owner: 'bo', origin: null, note: 'Lights', since, priority: 'normal' };
const read = { path: 'a', position: 2, owner: 'bo', origin: undefined, note: 'Lights', since, raw: place };
const asked = { workspace: game, path: lockPath('a'), note: 'Lights' };

test('asking for a lock sends the note, and returns the place in line', async () => {
  const { server, client } = await clientOf(json(201, place));
  expect(await client.askForLock(asked, client.within())).toEqual(read);
  const [request] = server.requests;
  expect([request?.method, request?.url]).toEqual(['POST', '/v1/workspaces/game/queue']);
  expect(JSON.parse(request?.body ?? '')).toEqual({ path: 'a', note: 'Lights' });
});

test('lists waiting clients, without entries that have no path', async () => {
  const { client } = await clientOf(json(200, { queue: [place, { ...place, position: 'first' }, { owner: 'cy' }] }));
  const { items, incomplete } = await client.listQueue({ workspace: game }, client.within());
  expect(items).toMatchObject([read, { path: 'a', position: undefined }]);
  expect(incomplete).toContain('1 of its entries could not be read');
});
