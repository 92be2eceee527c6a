import { expect, test } from 'vitest';
import { json } from '../support/other-servers/responses.ts';
import { clientOf, game, lockPath } from './test-client.ts';

const place = { path: 'a', position: 2, owner: 'bo', origin: null, note: 'Lights', priority: 'normal' };

test('asking for a lock sends the note, and returns the place in line', async () => {
  const { server, client } = await clientOf(json(201, place));
  const asked = { workspace: game, path: lockPath('a'), note: 'Lights' };
  expect(await client.askForLock(asked, client.within())).toEqual({ position: 2, raw: place });
  const [request] = server.requests;
  expect([request?.method, request?.url]).toEqual(['POST', '/v1/workspaces/game/queue']);
  expect(JSON.parse(request?.body ?? '')).toEqual({ path: 'a', note: 'Lights' });
});
