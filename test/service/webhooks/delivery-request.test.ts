import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type HookFormat, hookFormats } from '../../../src/interface/resources.ts';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';
import type { HookRow } from '../../../src/service/outbox/outbox.ts';
import { deliveryRequest } from '../../../src/service/webhooks/deliver.ts';
import { hookRow, lock, released, succeeded } from './samples.ts';

const requestOf = (hook: HookRow, occurrence: HookEventOccurrence) => deliveryRequest(hook, occurrence, new Date());
const bodyOf = (format: HookFormat, occurrence: HookEventOccurrence) =>
  JSON.parse(requestOf(hookRow({ format }), occurrence).body);

test('the standard format is the payload of Standard Webhooks, with the time of the event', () => {
  expect(bodyOf('standard', succeeded)).toEqual({
    type: 'sync.succeeded',
    timestamp: '2026-01-02T03:04:07.006Z',
    data: { workspace: 'game', ...succeeded.data },
  });
  expect(bodyOf('standard', released)).toEqual({
    type: 'lock.released',
    timestamp: '2026-01-02T03:30:00.000Z',
    data: { workspace: 'game', lock, released_by: 'admin', forced: true },
  });
});

test('the github format is a repository dispatch with the standard payload and the id', () => {
  expect(requestOf(hookRow({ format: 'github' }), released).headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'user-agent': 'workspace-automation',
  });
  expect(bodyOf('github', released)).toEqual({
    event_type: 'lock.released',
    client_payload: { id: 'evt_2', ...bodyOf('standard', released) },
  });
});

test('every format is signed over the sent body', () => {
  for (const format of hookFormats) {
    const hook = hookRow({ format });
    const { body, headers } = requestOf(hook, succeeded);
    expect(new Webhook(hook.secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
    expect(headers['webhook-id']).toBe(succeeded.id);
  }
});

test("a hook's own headers are added, and replace those of its format", () => {
  const headers = { Authorization: 'Bearer abc', 'User-Agent': 'game-hooks' };
  expect(requestOf(hookRow({ format: 'github', headers }), released).headers).toMatchObject({
    authorization: 'Bearer abc',
    accept: 'application/vnd.github+json',
    'content-type': 'application/json',
    'user-agent': 'game-hooks',
  });
});
