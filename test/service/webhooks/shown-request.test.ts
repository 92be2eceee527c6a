import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HookFormat, hookFormats } from '../../../src/interface/resources.ts';
import { deliveryRequest } from '../../../src/service/webhooks/delivery-request.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { type HookRow, receiverOf } from '../../../src/service/webhooks/hooks.ts';
import { shownRequest } from '../../../src/service/webhooks/shown-request.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { runs } from '../../support/runs.ts';
import { released, succeeded, valueIn } from './samples.ts';

interface Given {
  readonly url?: string;
  readonly format?: HookFormat;
  readonly headers?: Readonly<Record<string, string>>;
}

const rowOf = ({ url = 'https://a.example.com/', format = 'standard', headers = {} }: Given): HookRow => ({
  id: 'hook_1',
  workspace_id: 'game',
  url,
  events: '[]',
  branches: null,
  format,
  secret: newSecret(),
  headers: JSON.stringify(valueIn(parseExtraHeaders(headers))),
  active: 1,
  inactive_why: null,
  resumed_at: null,
  created_at: 0,
  updated_at: 0,
});

test('is what a receiver gets, with the extra headers and the signature hidden', () => {
  const hook = rowOf({
    url: 'https://a.example.com/hook?key=s3cret',
    headers: { Authorization: 'Bearer s3cret', 'User-Agent': 'game-hooks' },
  });
  const { body, prettyBody, ...shown } = valueIn(shownRequest(hook, released));
  expect(shown).toEqual({
    method: 'POST',
    url: 'https://a.example.com/hook?…',
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'user-agent', hidden: 'secret' },
      { name: 'authorization', hidden: 'secret' },
      { name: 'webhook-id', value: released.id },
      { name: 'webhook-timestamp', hidden: 'of-each-attempt' },
      { name: 'webhook-signature', hidden: 'secret' },
    ],
  });
  expect(body).toBe(valueIn(deliveryRequest(receiverOf(hook), released, new Date())).body);
  expect(prettyBody).toContain('\n');
  expect(JSON.parse(prettyBody)).toEqual(JSON.parse(body));
});

test('has the headers of every attempt, and none of the values that are secret', () => {
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
      const hook = rowOf({ url: `https://a.example.com/hook?${query}`, format, headers: extra });
      const shown = valueIn(shownRequest(hook, succeeded));
      const sent = valueIn(deliveryRequest(receiverOf(hook), succeeded, new Date(0)));
      expect(shown.headers.map((header) => header.name)).toEqual(Object.keys(sent.headers));
      const secrets = [query, hook.secret, sent.headers['webhook-signature'], ...Object.values(extra)];
      for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret);
    }),
    { numRuns: runs(100, 2_000) },
  );
});

test('there is none for an event that the format has no words for', () => {
  expect(shownRequest(rowOf({ format: 'buildkite' }), released).ok).toBe(false);
});
