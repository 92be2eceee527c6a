import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Change, findSource, parseChange } from '../../../src/action/changed-files/change.ts';
import type { RunEvent } from '../../../src/action/step/runner.ts';
import type { Json } from '../../../src/client/json.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const one = '1'.repeat(40);
const two = '2'.repeat(40);
const none = '0'.repeat(40);
const repository = { default_branch: 'main' };
const instead = ' Name the files with `path` instead.';

// Only the values that JSON can express.
const parse = (event: string, payload: unknown) => parseChange(event, JSON.parse(JSON.stringify(payload)) as Json);

/** The name of the change, or the reason why it is rejected. */
function nameIn(event: string, payload: object): string {
  const change = parse(event, payload);
  return change.ok ? change.value.name : change.reason;
}

describe('the change of an event', () => {
  test.each(['pull_request', 'pull_request_target', 'pull_request_review', 'check_of_tomorrow'])(
    'is the pull request of a %s event that has one',
    (event) => {
      const value = { kind: 'pull-request', name: 'pull request #7', number: 7 };
      expect(parse(event, { action: 'opened', pull_request: { number: 7 } })).toEqual({ ok: true, value });
    },
  );

  const push = { ref: 'refs/heads/release/1', before: one, after: two };
  const group = { base_sha: one, head_sha: two, base_ref: 'refs/heads/main' };
  const longIds = { before: '3'.repeat(64), after: '4'.repeat(64) };
  const topic = { ref: 'refs/heads/topic', before: none, after: two, repository };

  test.each<[string, string, object, string]>([
    ['a push', 'push', push, 'the push to release/1 (1111111 to 2222222)'],
    ['a forced push', 'push', { ...push, forced: true }, 'the push to release/1 (1111111 to 2222222)'],
    ['a push that creates a branch', 'push', topic, 'the push that creates topic (2222222, compared with main)'],
    [
      'a push that creates a tag',
      'push',
      { ...topic, ref: 'refs/tags/main' },
      'the push that creates main (2222222, compared with main)',
    ],
    ['a push in a SHA-256 repository', 'push', { ...push, ...longIds }, 'the push to release/1 (3333333 to 4444444)'],
    ['a push that deletes a branch', 'push', { ...topic, before: one, after: none }, 'the push that deletes topic'],
    ['a merge group', 'merge_group', { merge_group: group }, 'the merge group (1111111 to 2222222)'],
  ])('is named after the commits and refs of %s', (_name, event, payload, name) => {
    expect(nameIn(event, payload)).toBe(name);
  });

  const unknown = 'event does not name its commits';

  test.each<[string, string, object, string]>([
    ['an event of another kind', 'workflow_dispatch', { inputs: {} }, 'The event of the run is "workflow_dispatch"'],
    [
      'a comment',
      'issue_comment',
      { issue: { number: 7, pull_request: {} } },
      'Supported events: push, merge_group and those with a pull request',
    ],
    ['an event without a name', '', {}, 'The event of the run is "", which has no list of changed files'],
    [
      'a pull request without a number',
      'pull_request',
      { pull_request: { number: '7' } },
      'which has no list of changed files',
    ],
    ['a push without commits', 'push', { ref: 'refs/heads/main', after: two }, unknown],
    ['a push with an abbreviated commit', 'push', { ref: 'a', before: '1111111', after: two }, unknown],
    ['a merge group without commits', 'merge_group', { merge_group: { head_sha: two } }, unknown],
    [
      'a push that creates the default branch',
      'push',
      { ...topic, ref: 'refs/heads/main' },
      'The push creates "main", and there is no other branch to compare it with.',
    ],
    [
      'a push of a new branch in an unknown repository',
      'push',
      { ...topic, repository: undefined },
      'The push creates "topic", and there is no other branch to compare it with.',
    ],
    ['an event file with a list', 'push', [], 'The push event does not name its commits.'],
  ])('is refused for %s, with advice on what to do instead', (_name, event, payload, words) => {
    expect(parse(event, payload).ok).toBe(false);
    expect(nameIn(event, payload)).toContain(words);
    expect(nameIn(event, payload).endsWith(instead)).toBe(true);
  });
});

/** Members that an event can have, some with arbitrary values. */
const orAny = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(arbitrary, fc.jsonValue());
const shaped = fc.record(
  {
    ref: orAny(fc.constant('refs/heads/a')),
    before: orAny(fc.constantFrom(one, none)),
    after: orAny(fc.constantFrom(two, none)),
    repository: orAny(fc.constant(repository)),
    pull_request: orAny(fc.record({ number: orAny(fc.integer()) })),
    merge_group: orAny(fc.record({ base_sha: fc.constant(one), head_sha: fc.constant(two) })),
  },
  { requiredKeys: [] },
);

test('parses any JSON of any event into a change that can be looked up, or an error sentence', () => {
  const event = fc.oneof(fc.constantFrom('push', 'pull_request', 'merge_group', 'schedule'), fc.string());
  const commitsOf: Readonly<Record<Change['kind'], number>> = {
    'pull-request': 0,
    push: 2,
    'new-ref': 1,
    'deleted-ref': 0,
    'merge-group': 2,
  };
  fc.assert(
    fc.property(event, fc.oneof(shaped, fc.jsonValue()), (name, payload) => {
      const change = parse(name, payload);
      if (!change.ok) {
        expect(change.reason).toMatch(/^[A-Z].* Name the files with `path` instead\.$/s);
        return;
      }
      const { value } = change;
      expect(value.name).not.toBe('');
      const commits = Object.values(value).filter((each) => typeof each === 'string' && /^[12]{40}$/.test(each));
      expect(commits).toHaveLength(commitsOf[value.kind]);
      if (value.kind === 'pull-request') expect(value.number).toBeGreaterThan(0);
    }),
    { numRuns: runs(1_000, 50_000) },
  );
});

describe('the source of the changed files', () => {
  const pullRequest = JSON.stringify({ pull_request: { number: 7 } });
  async function eventWith(others: Partial<RunEvent> = {}, text = pullRequest): Promise<RunEvent> {
    const folder = temporaryFolder();
    const file = join(folder, 'event.json');
    await writeFile(file, text);
    return { name: 'pull_request', file, repository: 'octo-games/dragon', apiUrl: '', run: '1', ...others };
  }

  test.each([
    ['', 'https://api.github.com'],
    ['https://github.example.com/api/v3/', 'https://github.example.com/api/v3'],
    ['https://api.dragon.ghe.com', 'https://api.dragon.ghe.com'],
    ['http://127.0.0.1:8080/api/v3', 'http://127.0.0.1:8080/api/v3'],
  ])('maps the API URL %j of the runner to %s', async (given, apiUrl) => {
    const change = { kind: 'pull-request', name: 'pull request #7', number: 7 };
    const dragon = { owner: 'octo-games', repo: 'dragon' };
    expect(findSource(await eventWith({ apiUrl: given }), 'ghs_1', false)).toEqual({
      ok: true,
      value: { change, repository: dragon, apiUrl, token: 'ghs_1' },
    });
  });

  test('allows plain http to other machines only with `allow-http`', async () => {
    const event = await eventWith({ apiUrl: 'http://github.example.com/api/v3' });
    expect(findSource(event, 'ghs_1', false)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('plain http'),
    });
    expect(findSource(event, 'ghs_1', true).ok).toBe(true);
  });

  test.each<[string, Partial<RunEvent>, string, string?]>([
    ['an event that is not JSON', {}, 'The file with the event of the run cannot be used: it is not valid JSON.', '{'],
    ['no event file', { file: '' }, 'GITHUB_EVENT_PATH'],
    ['a missing event file', { file: '/no/such/event.json' }, 'cannot be read: ENOENT'],
    ['no repository', { repository: '' }, 'GITHUB_REPOSITORY'],
    ['a repository with path segments', { repository: 'octo/dragon/../../x' }, 'GITHUB_REPOSITORY'],
    ['an invalid API URL', { apiUrl: 'github' }, 'GITHUB_API_URL'],
    ['a file URL as API URL', { apiUrl: 'file:///etc/passwd' }, 'GITHUB_API_URL'],
  ])('is an error sentence for %s', async (_name, others, words, text) => {
    const source = findSource(await eventWith(others, text), 'ghs_1', false);
    expect(source).toMatchObject({ ok: false, reason: expect.stringContaining(words) });
  });
});
