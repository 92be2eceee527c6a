import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';
import { type ChatFormat, chatFormats, deliveryRequest, redactedUrl } from '../../../src/service/webhooks/formats.ts';
import { runs } from '../../support/runs.ts';
import { hookRow, lock, released, succeeded, sync } from './samples.ts';

const bodyOf = (format: ChatFormat, occurrence: HookEventOccurrence) =>
  JSON.parse(deliveryRequest(hookRow({ format }), occurrence, new Date()).body);

const about = { id: 'evt_3', workspace: 'game', occurredAt: '2026-01-02T03:04:05.006Z' } as const;
const arena = { ...lock, path: 'Content/Maps/Arena.umap', owner: 'release-bot' };
const origin = 'https://github.example.com/octo-games/dragon/actions/runs/1040';
const failed = { ...sync, status: 'failed', error: 'The remote does not answer.' } as const;

const told: readonly (readonly [HookEventOccurrence, string])[] = [
  [succeeded, 'game: art/änderung is in sync.'],
  [
    { ...about, type: 'sync.failed', data: { sync: failed, triggered_by: 'nightly' } },
    'game: the sync of art/änderung failed. The remote does not answer.',
  ],
  [
    { ...about, type: 'lock.acquired', data: { lock: { ...arena, origin, note: 'Lighting' } } },
    `Arena.umap is locked: release-bot holds it until 2026-01-02 04:04 UTC at the latest. release-bot says: Lighting\ngame: Content/Maps/Arena.umap\n${origin}`,
  ],
  [released, 'hero.psd is free: admin has released the lock of nightly by force.\ngame: art/hero.psd'],
  [
    { ...about, type: 'lock.expired', data: { lock: arena } },
    'Arena.umap is free: the lock of release-bot has expired.\ngame: Content/Maps/Arena.umap',
  ],
  [
    {
      ...about,
      type: 'lock.requested',
      data: { lock: arena, request: { owner: 'bo', origin: null, note: 'Two minutes?' } },
    },
    'bo waits for Arena.umap, held by release-bot. bo says: Two minutes?\ngame: Content/Maps/Arena.umap',
  ],
];

test.each(told)('$type is a sentence in a chat', (occurrence, text) => {
  expect(bodyOf('slack', occurrence).text).toBe(text);
  const { content } = bodyOf('teams', occurrence).attachments[0];
  const lines = content.body.map((block: { inlines: readonly [{ text: string }] }) => block.inlines[0].text);
  expect(lines.join('\n')).toBe(text);
  const shown = bodyOf('discord', occurrence).content.replaceAll(/\\(?=[^\w\s])/g, '');
  expect(shown).toBe(text.replace(origin, `<${origin}>`));
});

const lockOf = fc.record({
  path: fc.string({ minLength: 1, maxLength: 1_024, unit: 'grapheme' }),
  owner: fc.string({ minLength: 1, maxLength: 200, unit: fc.constantFrom(...'<!@channel>everyone#*_`[](~|:') }),
  note: fc.string({ maxLength: 200, unit: fc.constantFrom(...'<!@here>|https://evil.example*_`[]()\n') }),
  origin: fc.option(fc.webUrl({ withQueryParameters: true })),
});

test('chat messages have no mentions, no formatting and a limited length, whatever names and notes contain', () => {
  fc.assert(
    fc.property(lockOf, (given) => {
      const occurrence: HookEventOccurrence = {
        ...about,
        type: 'lock.acquired',
        data: { lock: { ...lock, ...given } },
      };
      const slack = bodyOf('slack', occurrence);
      expect(slack.text).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/);
      expect(slack.mrkdwn).toBe(false);
      const discord = bodyOf('discord', occurrence);
      const [text = ''] = discord.content.split('\n<http');
      expect(text.replaceAll(/\\./gs, '')).not.toMatch(/[*_~`|<>@#[\]]/);
      expect(discord.allowed_mentions).toEqual({ parse: [] });
      expect(discord.content.length).toBeLessThanOrEqual(2_000);
      expect(JSON.stringify(bodyOf('teams', occurrence))).not.toContain('"TextBlock"');
    }),
    { numRuns: runs(100, 2_000) },
  );
});

test('the path of a chat URL is a secret, and is never shown', () => {
  const path = '/services/T0123ABCD/B0123ABCD/abcdefghijklmnopqrstuvwx';
  for (const format of chatFormats) {
    expect(redactedUrl({ format, url: `https://hooks.example.com${path}` })).toBe('https://hooks.example.com/…');
  }
});
