import { expect, test } from 'vitest';
import type { Answer } from '../support/other-servers/other-server.ts';
import { hangUp, inTurn, json, nothing, page, problem, silence } from '../support/other-servers/responses.ts';
import { clientOf, game, hero, listing, ofKind, ttl, unanswered } from './test-client.ts';

const line = { seconds: 30, urgency: 3 } as const;
const request = {
  workspace: game,
  path: hero,
  type: 'exclusive',
  ttl: ttl('1h'),
  idempotencyKey: 'step/1',
  wait: line,
};
const applied = { 'preference-applied': 'wait=30' };
const ours = { id: 'l1', path: hero, owner: 'ada' };
const type = 'urn:workspace-automation:problem:locked';
const inProgress = 'urn:workspace-automation:problem:request-in-progress';
const locked = { type, lock: { id: 'l0', path: hero, owner: 'grace' }, queue: { position: 3, length: 5 } };

test.each([
  [{}, 'wait=30', 'u=3'],
  [{ seconds: 0, urgency: 1 }, 'wait=0', 'u=1'],
  [{ urgency: 5 }, 'wait=30', 'u=5'],
] as const)('requests a place in line (%j)', async (more, prefer, priority) => {
  const { server, client } = await clientOf(json(201, ours, applied));
  const result = await client.acquireLock({ ...request, wait: { ...line, ...more } }, client.within());
  expect(ofKind(result, 'acquired').lock).toMatchObject(ours);
  expect(server.requests).toMatchObject([
    { method: 'POST', headers: { prefer, priority, 'idempotency-key': 'step/1' } },
  ]);
});

test('requests no place in line by default', async () => {
  const { server, client } = await clientOf(json(201, ours));
  await client.acquireLock({ ...request, wait: undefined }, client.within());
  expect(server.requests[0]?.headers).not.toHaveProperty('prefer');
  expect(server.requests[0]?.headers).not.toHaveProperty('priority');
});

const none = { hasWaited: false, queue: undefined };
const waited = { ...none, hasWaited: true };
const place = (queue: unknown) => problem(409, { ...locked, queue }, applied);

test.each<[string, Answer, object]>([
  ['confirms the wait', problem(409, locked, applied), { ...waited, queue: { position: 3, length: 5 } }],
  ['does not wait', problem(409, locked), { ...none, queue: { position: 3, length: 5 } }],
  ['confirms another preference', problem(409, locked, { 'preference-applied': 'no-wait' }), { hasWaited: false }],
  ['confirms several', problem(409, locked, { 'preference-applied': 'any, WAIT = "30"' }), { hasWaited: true }],
  ['reports no place', problem(423, { ...locked, queue: undefined }, applied), waited],
  ['reports a place as text', place({ position: '2', length: '4' }), { queue: { position: 2, length: 4 } }],
  ['reports no length', place({ position: 2 }), { queue: { position: 2, length: 2 } }],
  ['counts only the others', place({ position: 3, length: 2 }), { queue: { position: 3, length: 3 } }],
  ['reports an impossible place', place({ position: -1, length: 1e300 }), { queue: undefined }],
  ['reports a list as the place', place([1, 2]), { queue: undefined }],
  [
    'keeps a free path for others',
    problem(409, { type, queue: { position: 2, length: 2 } }, applied),
    { holder: undefined, hasWaited: true, queue: { position: 2, length: 2 } },
  ],
])('is refused by a service that %s', async (_, answer, result) => {
  const { server, client } = await clientOf(answer);
  expect(ofKind(await client.acquireLock(request, client.within()), 'held')).toMatchObject(result);
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Answer]>([
  ['a 409 of a gateway', nothing(409)],
  ['a 404 of a gateway', page(404)],
  ['a 400 of a gateway', page(400)],
  ['a 502', nothing(502)],
  ['a lost connection', hangUp],
  ['a page', page(200)],
  ['a response that its key is still in use', problem(409, { type: inProgress }, { 'retry-after': '1' })],
])('%s leaves a request that waits unanswered after one attempt, to be repeated', async (_, answer) => {
  const { server, client } = await clientOf(listing([locked.lock], answer));
  const { error } = unanswered(await client.acquireLock(request, client.within()));
  expect(error.isTransient).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test('a refusal of a request that is too large is final, also by a gateway', async () => {
  const { server, client } = await clientOf(page(413));
  const { error, mayBeDone } = ofKind(await client.acquireLock(request, client.within()), 'failed');
  expect([error.isTransient, mayBeDone]).toEqual([false, false]);
  expect(server.requests).toHaveLength(1);
});

test('a repeated request may have got the lock itself, unless the path is free', async () => {
  const again = { ...request, firstSentAt: Date.now };
  const { client } = await clientOf(
    inTurn(problem(409, locked, applied), problem(409, { ...locked, lock: null }, applied)),
  );
  expect(ofKind(await client.acquireLock(again, client.within()), 'held').mayBeDone).toBe(true);
  expect(ofKind(await client.acquireLock(again, client.within()), 'held').mayBeDone).toBe(false);
});

test('a response may take the requested time plus the timeout of one attempt', async () => {
  const late: Answer = (response) => {
    setTimeout(() => response.writeHead(201, applied).end('{"id":"l1"}'), 700);
  };
  const { client } = await clientOf(late, { requestTimeoutMs: 100 });
  ofKind(await client.acquireLock(request, client.within()), 'acquired');
  const { client: impatient } = await clientOf(silence, { requestTimeoutMs: 100 });
  const short = { ...request, wait: { ...line, seconds: 1 } };
  unanswered(await impatient.acquireLock(short, impatient.within()));
});
