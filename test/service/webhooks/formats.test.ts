import { expect, test } from 'vitest';
import { type HookEvent, hookEvents, hookFormats } from '../../../src/interface/resources.ts';
import type { HookEventOccurrence } from '../../../src/service/webhooks/event.ts';
import { contentOf, parseSubscription } from '../../../src/service/webhooks/formats.ts';
import { lock, released, succeeded, sync, valueIn, whyOf } from './samples.ts';

const occurrenceOf = (type: HookEvent): HookEventOccurrence => {
  const common = { id: 'evt_9', workspace: 'game', occurredAt: '2026-01-02T03:04:07.006Z' };
  switch (type) {
    case 'sync.succeeded':
    case 'sync.failed':
      return { ...common, type, data: { sync } };
    case 'lock.acquired':
    case 'lock.expired':
    case 'lock.released':
      return { ...common, type, data: { lock } };
  }
};

const bodyOf = (...args: Parameters<typeof contentOf>): unknown => JSON.parse(valueIn(contentOf(...args)).body);

test('the standard format is the payload of Standard Webhooks, with the time of the event', () => {
  expect(bodyOf('standard', succeeded)).toEqual({
    type: 'sync.succeeded',
    timestamp: '2026-01-02T03:04:07.006Z',
    data: { workspace: 'game', sync },
  });
  expect(bodyOf('standard', released)).toEqual({
    type: 'lock.released',
    timestamp: '2026-01-02T03:30:00.000Z',
    data: { workspace: 'game', lock, released_by: 'admin', forced: true },
  });
});

test('the github format is a repository dispatch whose payload has what the standard one has, and the id', () => {
  const { headers } = valueIn(contentOf('github', released));
  expect(headers).toEqual({
    'content-type': 'application/json',
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'user-agent': 'workspace-automation',
  });
  expect(bodyOf('github', released)).toEqual({
    event_type: 'lock.released',
    client_payload: { id: 'evt_2', ...(bodyOf('standard', released) as object) },
  });
});

test('every event fits into the limits of a repository dispatch', () => {
  for (const event of hookEvents) {
    const body = bodyOf('github', occurrenceOf(event)) as { event_type: string; client_payload: object };
    expect(body.event_type.length).toBeLessThanOrEqual(100);
    expect(Object.keys(body.client_payload).length).toBeLessThanOrEqual(10);
  }
});

test('the buildkite format starts a build of the commit that was synced', () => {
  expect(bodyOf('buildkite', succeeded)).toEqual({
    commit: sync.head,
    branch: 'art/änderung',
    message: 'game: art/änderung is in sync',
    meta_data: {
      event_id: 'evt_1',
      event: 'sync.succeeded',
      workspace: 'game',
      sync_id: 'syn_1',
      received_objects: '11',
    },
  });
});

test('the buildkite format tells of a failed sync too, which may have no head', () => {
  const failed = {
    ...succeeded,
    type: 'sync.failed',
    data: { sync: { ...sync, status: 'failed', head: null, error: 'The remote does not answer.' } },
  } as const;
  expect(bodyOf('buildkite', failed)).toMatchObject({
    commit: 'HEAD',
    message: 'game: the sync of art/änderung failed',
    meta_data: { event: 'sync.failed', error: 'The remote does not answer.' },
  });
});

test('every format has words for every event that a hook of that format may be registered for', () => {
  for (const format of hookFormats) {
    for (const event of hookEvents) {
      expect(contentOf(format, occurrenceOf(event)).ok).toBe(parseSubscription(format, [event]).ok);
    }
  }
});

test('only the buildkite format refuses lock events, and says why', () => {
  expect(parseSubscription('standard', hookEvents).ok).toBe(true);
  expect(parseSubscription('github', hookEvents).ok).toBe(true);
  expect(parseSubscription('buildkite', ['sync.succeeded', 'sync.failed']).ok).toBe(true);
  expect(whyOf(parseSubscription('buildkite', ['sync.succeeded', 'lock.acquired']))).toBe(
    'The buildkite format starts a build of a branch, and lock events have none: use sync events only.',
  );
});
