import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findSource } from '../../../src/action/changed-files/change.ts';
import type { RunEvent } from '../../../src/action/context.ts';

const event = JSON.stringify({ pull_request: { number: 7 } });

async function eventWith(text: string, others: Partial<RunEvent> = {}): Promise<RunEvent> {
  const folder = await mkdtemp(join(tmpdir(), 'event-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'event.json');
  await writeFile(file, text);
  return { name: 'pull_request', file, repository: 'octo-games/dragon', apiUrl: '', ...others };
}

const access = { token: 'ghs_1', allowHttp: false };

test.each([
  ['', 'https://api.github.com'],
  ['https://github.example.com/api/v3/', 'https://github.example.com/api/v3'],
  ['https://api.dragon.ghe.com', 'https://api.dragon.ghe.com'],
  ['http://127.0.0.1:8080/api/v3', 'http://127.0.0.1:8080/api/v3'],
])('with the address %j of the runner, GitHub is at %s', async (apiUrl, expected) => {
  expect(findSource(await eventWith(event, { apiUrl }), access)).toEqual({
    ok: true,
    value: {
      change: { kind: 'pull-request', number: 7 },
      repository: { owner: 'octo-games', repo: 'dragon' },
      apiUrl: expected,
      token: 'ghs_1',
    },
  });
});

test('plain http goes beyond this machine only where that is allowed', async () => {
  const place = await eventWith(event, { apiUrl: 'http://github.example.com/api/v3' });
  expect(findSource(place, access)).toMatchObject({ ok: false, why: expect.stringContaining('plain http') });
  expect(findSource(place, { ...access, allowHttp: true }).ok).toBe(true);
});

test.each<[string, string, Partial<RunEvent>, string]>([
  ['an event that is not JSON', '{', {}, 'The file with the event of the run cannot be used: it is not valid JSON.'],
  ['no file of an event', '', { file: '' }, 'GITHUB_EVENT_PATH'],
  ['a file that is not there', '', { file: '/no/such/event.json' }, 'cannot be read: ENOENT'],
  ['no repository', event, { repository: '' }, 'GITHUB_REPOSITORY'],
  ['a repository that leads elsewhere', event, { repository: 'octo/dragon/../../x' }, 'GITHUB_REPOSITORY'],
  ['an address that is none', event, { apiUrl: 'github' }, 'GITHUB_API_URL'],
  ['an address of a file', event, { apiUrl: 'file:///etc/passwd' }, 'GITHUB_API_URL'],
])('%s is told in a sentence', async (_name, text, others, words) => {
  const source = findSource(await eventWith(text, others), access);
  expect(source).toMatchObject({ ok: false, why: expect.stringContaining(words) });
});
