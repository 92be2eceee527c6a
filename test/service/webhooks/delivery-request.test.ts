import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { redact, spellingsOf } from '../../../src/interface/redact.ts';
import { type HookFormat, hookFormats } from '../../../src/interface/resources.ts';
import { type HookEventOccurrence, isSyncEvent } from '../../../src/service/outbox/event.ts';
import type { HookRow } from '../../../src/service/outbox/hook-row.ts';
import { deliveryRequest, redactedRequest, redactedUrl } from '../../../src/service/webhooks/delivery-request.ts';
import { subscriptionProblem } from '../../../src/service/webhooks/formats.ts';
import { runs } from '../../support/runs.ts';
import { valueIn } from '../../support/value-in.ts';
import { hookRow, lock, released, succeeded, sync } from './samples.ts';

const requestOf = (hook: HookRow, occurrence: HookEventOccurrence) =>
  valueIn(deliveryRequest(hook, occurrence, new Date()));
const bodyOf = (format: HookFormat, occurrence: HookEventOccurrence) =>
  JSON.parse(requestOf(hookRow({ format }), occurrence).body);

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

test('a format of a later version of the service is sent in the standard one, and its path may be secret', () => {
  // As a database that both versions use has it.
  const row = { ...hookRow({ url: 'https://chat.example.com/hooks/s3cret' }), format: 'later' as HookFormat };
  expect(redactedUrl(row)).toBe('https://chat.example.com/…');
  const request = deliveryRequest(row, released, new Date(0));
  expect(request.ok && JSON.parse(request.value.body)).toEqual(bodyOf('standard', released));
});

test('the buildkite format starts a build of the synced commit', () => {
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

test('the buildkite format supports failed syncs, which may have no head', () => {
  const error = 'The remote does not answer.';
  const data = { sync: { ...sync, status: 'failed', head: null, error } } as const;
  expect(bodyOf('buildkite', { ...succeeded, type: 'sync.failed', data })).toMatchObject({
    commit: 'HEAD',
    message: 'game: the sync of art/änderung failed',
    meta_data: { event: 'sync.failed', error },
  });
});

test('only the buildkite format rejects lock events, at registration and at delivery', () => {
  const occurrences: readonly HookEventOccurrence[] = [
    succeeded,
    { ...succeeded, type: 'sync.failed' },
    released,
    { ...released, type: 'lock.acquired' },
    { ...released, type: 'lock.expired' },
  ];
  for (const format of hookFormats) {
    const hook = hookRow({ format });
    for (const occurrence of occurrences) {
      const isExpressed = format !== 'buildkite' || isSyncEvent(occurrence.type);
      expect(subscriptionProblem(format, ['sync.failed', occurrence.type]) === undefined).toBe(isExpressed);
      expect(deliveryRequest(hook, occurrence, new Date()).ok).toBe(isExpressed);
      expect(redactedRequest(hook, occurrence).ok).toBe(isExpressed);
    }
  }
  expect(subscriptionProblem('buildkite', ['sync.succeeded', 'lock.acquired'])).toBe(
    'The buildkite format starts a build of a branch, and only sync events have one. Subscribe only to these.',
  );
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

test('the displayed request has the headers of every attempt, and no secret values', () => {
  const text = fc.string({ unit: fc.constantFrom(...'abcdef0123456789'), minLength: 12, maxLength: 30 });
  const name = fc.constantFrom('authorization', 'x-key', 'user-agent', 'accept', 'x-api', 'constructor');
  const given = fc.record({
    format: fc.constantFrom(...hookFormats),
    query: text,
    headers: fc.array(fc.tuple(name, text), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(given, ({ format, query, headers }) => {
      const extra = Object.fromEntries(headers);
      const hook = hookRow({ url: `https://a.example.com/hook?${query}`, format, headers: extra });
      const shown = valueIn(redactedRequest(hook, succeeded));
      const sent = valueIn(deliveryRequest(hook, succeeded, new Date(0)));
      expect(shown.headers.map((header) => header.name)).toEqual(Object.keys(sent.headers));
      expect(shown.body).toBe(sent.body);
      const secrets = [query, hook.secret, sent.headers['webhook-signature'], ...Object.values(extra)];
      for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret);
    }),
    { numRuns: runs(100, 2_000) },
  );
});

const basic = Buffer.from('ada:p4ssword').toString('base64');
const full = hookRow({
  url: 'https://hooks.example.com/path?key=a%2Fb%20c&alone1&plain=pl4in',
  headers: { Authorization: 'Bearer t0ken-of-ours', 'X-Auth': `Basic ${basic}`, 'X-Key': 'k3y one two' },
});
const sent = requestOf(full, succeeded);
const signature = sent.headers['webhook-signature'] ?? '';
const spellings = spellingsOf(sent.secrets, 4);

test.each([
  ['the secret of the hook', full.secret],
  ['the bytes of the secret', full.secret.slice('whsec_'.length)],
  ['the signature', signature],
  ['the signature without its version', signature.slice('v1,'.length)],
  ['the value of a header', 'Bearer t0ken-of-ours'],
  ['the credential in a header', 't0ken-of-ours'],
  ['a value with spaces', 'k3y one two'],
  ['a user name and password', basic],
  ['the decoded user name and password', 'ada:p4ssword'],
  ['the password alone', 'p4ssword'],
  ['the query of the URL', 'key=a%2Fb%20c&alone1&plain=pl4in'],
  ['an encoded query value', 'a%2Fb%20c'],
  ['a decoded query value', 'a/b c'],
  ['another query value', 'pl4in'],
  ['a query name without a value', 'alone1'],
])('%s is redacted in the response of a receiver', (_, text) => {
  expect(redact(`You have sent: ${text}!`, spellings)).toBe('You have sent: ***!');
});

test('non-secret parts of a delivery are not redacted in the response of a receiver', () => {
  const text = `POST /path ${succeeded.id} ${sent.body} application/json key plain`;
  expect(redact(text, spellings)).toBe(text);
});
