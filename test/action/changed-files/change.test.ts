import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Change, nameOf, parseChange } from '../../../src/action/changed-files/change.ts';
import { type Json, parseJson } from '../../../src/client/json.ts';
import type { Parsed } from '../../../src/interface/parsed.ts';
import { runs } from '../../support/runs.ts';

const one = '1'.repeat(40);
const two = '2'.repeat(40);
const none = '0'.repeat(40);
const game = { default_branch: 'main' };

const parse = (event: string, payload: object): Parsed<Change> => {
  const json = parseJson(JSON.stringify(payload), (text) => text);
  if (!json.ok) throw new Error(json.why);
  return parseChange(event, json.value);
};

const nameIn = (event: string, payload: object): string => {
  const change = parse(event, payload);
  return change.ok ? nameOf(change.value) : change.why;
};

describe('an event', () => {
  test.each([
    'pull_request',
    'pull_request_target',
    'pull_request_review',
    'pull_request_review_comment',
    'check_of_tomorrow',
  ])('%s with a pull request is of that', (event) => {
    expect(parse(event, { action: 'opened', pull_request: { number: 7 } })).toEqual({
      ok: true,
      value: { kind: 'pull-request', number: 7 },
    });
  });

  test.each<[string, object, string]>([
    ['a push', { ref: 'refs/heads/release/1', before: one, after: two }, 'the push to release/1 (1111111 to 2222222)'],
    [
      'a forced push',
      { ref: 'refs/heads/main', before: one, after: two, forced: true, created: false },
      'the push to main (1111111 to 2222222)',
    ],
    [
      'the push of a new branch',
      { ref: 'refs/heads/topic', before: none, after: two, repository: game },
      'the push that makes topic (2222222, compared with main)',
    ],
    [
      'the push of a new tag',
      { ref: 'refs/tags/main', before: none, after: two, repository: game },
      'the push that makes main (2222222, compared with main)',
    ],
    [
      'a push in a repository of SHA-256',
      { ref: 'refs/heads/main', before: '3'.repeat(64), after: '4'.repeat(64) },
      'the push to main (3333333 to 4444444)',
    ],
    [
      'the push that deletes a branch',
      { ref: 'refs/heads/topic', before: one, after: none, deleted: true },
      'the push that deletes topic',
    ],
  ])('%s is that', (_name, payload, name) => {
    expect(nameIn('push', payload)).toBe(name);
  });

  test('of a merge group is from its base to its head', () => {
    const merge_group = { base_sha: one, head_sha: two, base_ref: 'refs/heads/main' };
    expect(nameIn('merge_group', { merge_group })).toBe('the merge group (1111111 to 2222222)');
  });

  test.each<[string, string, object, string]>([
    [
      'of another kind',
      'workflow_dispatch',
      { inputs: {} },
      'The event of the run is "workflow_dispatch", of which no',
    ],
    ['of a comment', 'issue_comment', { issue: { number: 7, pull_request: {} } }, 'of push and of merge_group.'],
    ['without a name', '', {}, 'The run has no event, of which no changed files are known'],
    [
      'of a pull request without a number',
      'pull_request',
      { pull_request: { number: '7' } },
      'no changed files are known',
    ],
    ['of a push without its commits', 'push', { ref: 'refs/heads/main', after: two }, 'does not say from which commit'],
    [
      'of a push with half a commit',
      'push',
      { ref: 'a', before: '1111111', after: two },
      'does not say from which commit',
    ],
    [
      'of a merge group without commits',
      'merge_group',
      { merge_group: { head_sha: two } },
      'The event of the merge group',
    ],
    [
      'of the push that makes the default branch',
      'push',
      { ref: 'refs/heads/main', before: none, after: two, repository: game },
      'The push makes the default branch "main": there is nothing to compare it with.',
    ],
    [
      'of a new branch of an unknown repository',
      'push',
      { ref: 'refs/heads/topic', before: none, after: two },
      'does not say with which branch to compare that.',
    ],
    ['that is a list', 'push', [], 'The event file does not contain a JSON object.'],
  ])('%s is refused, with what to do instead', (_name, event, payload, words) => {
    const change = parse(event, payload);
    expect(change.ok).toBe(false);
    expect(nameIn(event, payload)).toContain(words);
    expect(nameIn(event, payload)).toMatch(/ Name the files with `path` instead\.$/);
  });
});

/** Members that an event can have, with whatever may be in their place. */
const shaped = fc.record(
  {
    ref: fc.oneof(fc.constant('refs/heads/a'), fc.jsonValue()),
    before: fc.oneof(fc.constantFrom(one, none), fc.jsonValue()),
    after: fc.oneof(fc.constantFrom(two, none), fc.jsonValue()),
    repository: fc.oneof(fc.constant(game), fc.jsonValue()),
    pull_request: fc.oneof(fc.record({ number: fc.oneof(fc.integer(), fc.jsonValue()) }), fc.jsonValue()),
    merge_group: fc.oneof(fc.record({ base_sha: fc.constant(one), head_sha: fc.constant(two) }), fc.jsonValue()),
  },
  { requiredKeys: [] },
);

test('any JSON, of any event, is a change that can be looked up or a sentence', () => {
  const event = fc.oneof(fc.constantFrom('push', 'pull_request', 'merge_group', 'schedule'), fc.string());
  fc.assert(
    fc.property(event, fc.oneof(shaped, fc.jsonValue()), (name, payload) => {
      // JSON has no other values than these, which the type of jsonValue does not tell.
      const change = parseChange(name, JSON.parse(JSON.stringify(payload)) as Json);
      if (!change.ok) {
        expect(change.why).toMatch(/^[A-Z].* Name the files with `path` instead\.$/s);
        return;
      }
      const { value } = change;
      expect(nameOf(value)).not.toBe('');
      const commits = Object.values(value).filter((each) => typeof each === 'string' && /^[12]{40}$/.test(each));
      const expected: Readonly<Record<Change['kind'], number>> = {
        'pull-request': 0,
        push: 2,
        'new-ref': 1,
        'deleted-ref': 0,
        'merge-group': 2,
      };
      expect(commits).toHaveLength(expected[value.kind]);
      if (value.kind === 'pull-request') expect(value.number).toBeGreaterThan(0);
    }),
    { numRuns: runs(1_000, 50_000) },
  );
});
