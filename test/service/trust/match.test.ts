import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchTrustRules } from '../../../src/service/trust/match.ts';
import type { TrustRule } from '../../../src/service/trust/rules.ts';
import { anyJob, mainJob } from './samples.ts';

type Claims = Readonly<Record<string, unknown>>;

const github = anyJob.issuer;
const enterprise = 'https://git.example.com/_services/token';

const release: TrustRule = {
  ...anyJob,
  id: 'trust_release',
  claims: { ...anyJob.claims, ref: 'refs/heads/main', environment: 'production' },
};
const pullRequests: TrustRule = {
  ...anyJob,
  id: 'trust_pulls',
  claims: { ...anyJob.claims, event_name: 'pull_request' },
};
const onGitLab: TrustRule = {
  ...anyJob,
  id: 'trust_gitlab',
  issuer: 'https://gitlab.com',
  claims: { project_id: '22', namespace_id: '72', ref: 'main', ref_type: 'branch' },
};

const gitlabJob = { project_id: '22', namespace_id: '72', ref: 'main', ref_type: 'branch', ref_protected: 'true' };
const pullRequest = { ...mainJob, event_name: 'pull_request', ref: 'refs/pull/7/merge' };

test.each<readonly [reason: string, rule: TrustRule, claims: Claims]>([
  ['that matches all fields of the rule', release, mainJob],
  [
    'of a renamed repository with the same id',
    release,
    {
      ...mainJob,
      repository: 'octo/game-2',
      workflow_ref: 'octo/game-2/.github/workflows/release.yml@refs/heads/main',
      sub: 'repo:octo@45/game-2@123:environment:production',
    },
  ],
  ['of a pull request if the rule names the event', pullRequests, pullRequest],
  ['of GitLab', onGitLab, gitlabJob],
])('a matching trust rule trusts a job %s', (_, rule, claims) => {
  expect(matchTrustRules([rule], rule.issuer, claims)).toEqual({
    kind: 'trusted',
    rule,
    scopes: ['sync', 'locks:write'],
  });
});

/** The reason that the log gives for a refused job. */
function refusalReason(rules: readonly TrustRule[], claims: Claims, issuer = rules[0]?.issuer ?? github): string {
  const decision = matchTrustRules(rules, issuer, claims);
  if (decision.kind === 'trusted') throw new Error('It is trusted.');
  return decision.reason;
}

const constructorRule = { ...release, claims: { ...anyJob.claims, constructor: 'x' } };
describe('trust rules that do not match', () => {
  test.each<readonly [reason: string, rule: TrustRule, change: Claims, says: string]>([
    ['of a branch with an invisible letter', release, { ref: 'refs/heads/main\u200b' }, String.raw`main\u{200b}"`],
    ['with a number as id', release, { repository_id: 123 }, 'repository_id must be "123" and is not a string'],
    ['without a claim named constructor', constructorRule, {}, 'constructor must be "x" and is missing'],
    [
      'of a pull request',
      anyJob,
      pullRequest,
      'event_name is "pull_request", and pull requests are trusted only by a rule',
    ],
    ['of pull_request_target', anyJob, { event_name: 'pull_request_target' }, 'event_name is "pull_request_target"'],
    ['without an event', anyJob, { event_name: undefined }, 'event_name is missing, and pull requests'],
    ['whose event is a list', anyJob, { event_name: ['push'] }, 'event_name is not a string, and'],
    [
      'of pull_request_target if the rule names pull_request',
      pullRequests,
      { ...pullRequest, event_name: 'pull_request_target' },
      'event_name must be "pull_request" and is "pull_request_target"',
    ],
  ])('refuse a job %s', (_, rule, change, says) => {
    const reason = refusalReason([rule], { ...mainJob, ...change });
    expect(reason).toContain(`The nearest is ${rule.id}: `);
    expect(reason).toContain(says);
  });

  test('refuse a job of another issuer, however similar its URL', () => {
    for (const issuer of [`${github}/`, github.toUpperCase(), 'http://token.actions.githubusercontent.com', enterprise])
      expect(refusalReason([release], mainJob, issuer)).toBe(`No trust rule names the issuer "${issuer}".`);
  });

  test('refuse all jobs if there is no rule, or only one without claims', () => {
    expect(refusalReason([], mainJob)).toContain('No trust rule names the issuer');
    expect(refusalReason([{ ...anyJob, claims: {} }], mainJob)).toContain('it names no claim');
  });
});

describe('the logged reason for a refusal', () => {
  test('names the rule with the fewest differences', () => {
    const elsewhere = { ...release, id: 'trust_elsewhere', claims: { ...release.claims, repository_id: '9' } };
    const reason = refusalReason([elsewhere, release], { ...mainJob, ref: 'refs/heads/x', environment: 'y' });
    expect(reason).toContain('trust_release');
    expect(reason).toContain('ref must be "refs/heads/main" and is "refs/heads/x"; environment must be');
  });

  test('is one line of limited length, whatever the claims', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc.constant('\r\n\u2028\u202e"\u001b[31m'.repeat(99)),
    );
    const names = Object.keys(mainJob);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.jsonValue())), text, (claims, issuer) => {
        for (const reason of [
          refusalReason([release], { ...mainJob, ref: 'x', ...claims }),
          refusalReason([release], claims, issuer),
        ]) {
          expect(reason).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          expect(reason.length).toBeLessThan(5_000);
        }
      }),
    );
  });
});

describe('a job with several candidate rules', () => {
  const second: TrustRule = { ...anyJob, id: 'trust_second', scopes: ['hooks:write'] };

  test('is refused if more than one matches, in any order, and the reason names them', () => {
    for (const rules of [
      [anyJob, second],
      [second, anyJob],
    ]) {
      const decision = matchTrustRules(rules, github, mainJob);
      expect(decision).toMatchObject({ kind: 'refused', reason: expect.stringContaining(anyJob.id) });
      expect(decision).toMatchObject({ reason: expect.stringContaining('trust_second') });
    }
  });

  test('is trusted if only one of them matches', () => {
    const other = { ...release, owner: 'art-bot', claims: { ...release.claims, ref: 'refs/heads/art' } };
    expect(matchTrustRules([other, anyJob], github, mainJob)).toMatchObject({ kind: 'trusted', rule: anyJob });
  });
});

const rules = [release, pullRequests];
const jobs = [mainJob, pullRequest];

test('a job is refused if any claim of the rule has another value', () => {
  const cases = rules.flatMap((rule, index) =>
    Object.keys(rule.claims).map((name) => ({ rule, job: jobs[index], name })),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
      ({ rule, job, name }, value) => {
        fc.pre(value !== rule.claims[name]);
        expect(matchTrustRules([rule], github, { ...job, [name]: value }).kind).toBe('refused');
      },
    ),
  );
});
