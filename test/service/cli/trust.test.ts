import { describe, expect, test } from 'vitest';
import { besideService } from './in-service.ts';

const { run, json } = besideService();

const game = ['--repository=octo/game', '--repository-id=123', '--repository-owner-id=45'];
const main = [...game, '--ref=refs/heads/main'];
const add = (...args: readonly string[]) => ['trust', 'add', '--scopes=sync,locks:write', ...args];
const gitlab = ['--issuer=https://gitlab.com', '--claim=project_id=22', '--claim', 'ref=a,b'];

test('trust rules are added, listed and removed, and recorded in the audit', async () => {
  expect((await run('trust', 'list')).stdout).toContain('There are no trust rules yet. Add one with: ');
  const args = [...main, '--environment=production', '--workflow=.github/workflows/release.yml', '--workspaces=sample'];
  const { rule, warnings } = await json(...add('--owner=release-bot', ...args));
  expect(warnings).toEqual([]);
  expect(rule).toEqual({
    id: expect.stringMatching(/^trust_[0-9a-f-]{36}$/),
    issuer: 'https://token.actions.githubusercontent.com',
    owner: 'release-bot',
    claims: { repository_id: '123', repository_owner_id: '45', ref: 'refs/heads/main', environment: 'production' },
    workflow: '.github/workflows/release.yml',
    repository: 'octo/game',
    scopes: ['sync', 'locks:write'],
    workspaces: ['sample'],
    created_at: expect.stringMatching(/Z$/),
  });
  const { stdout } = await run(...add('--owner=art-bot', ...gitlab));
  expect(stdout).toMatch(/^Added trust_\S+\. It trusts jobs of https:\/\/gitlab\.com with project_id=22, ref=a,b\.\n/);
  expect(stdout).toContain('Scopes: sync, locks:write. Workspaces: all. Their locks belong to "art-bot".');
  expect((await json('trust', 'list')).rules).toEqual([rule, expect.objectContaining({ owner: 'art-bot' })]);
  const [head, row] = (await run('trust', 'list')).stdout.split('\n');
  expect(head).toMatch(/^ID +OWNER +ISSUER +REPOSITORY +CLAIMS +SCOPES +WORKSPACES +CREATED$/);
  expect(row).toContain('ref=refs/heads/main environment=production workflow=.github/workflows/release.yml');
  expect(await json('trust', 'remove', rule.id)).toEqual({ removed: rule.id });
  expect((await json('trust', 'list')).rules).toHaveLength(1);
  const { entries } = await json('audit', '--action=trust.removed');
  const { id, created_at: _, ...said } = rule;
  expect(entries).toMatchObject([{ actor: expect.stringMatching(/^operator:/), detail: { rule: id, ...said } }]);
  expect((await json('audit', '--action=trust.added')).entries).toHaveLength(2);
});

test('a rule for a custom property is listed and audited with the claim of GitHub', async () => {
  const args = ['--owner=asset-bot', '--repository-owner-id=45', '--property=asset-repo=true', '--property=team=a b'];
  const { stdout } = await run(...add(...args));
  expect(stdout).toContain('repository_owner_id=45, repo_property_asset-repo=true, repo_property_team=a b.');
  expect(stdout).toContain('Every workflow on every branch of every repository with the property can use this rule.');
  expect((await run('trust', 'list')).stdout).toContain('repo_property_asset-repo=true repo_property_team=a b');
  const claims = {
    repository_owner_id: '45',
    'repo_property_asset-repo': 'true',
    repo_property_team: 'a b',
  };
  const { rules } = await json('trust', 'list');
  expect(rules.at(-1)).toMatchObject({ owner: 'asset-bot', claims });
  const { entries } = await json('audit', '--action=trust.added', '--limit=1');
  expect(entries).toMatchObject([{ detail: { owner: 'asset-bot', claims } }]);
  await run('trust', 'remove', rules.at(-1).id);
});

test('a duplicate rule is refused with the id of the existing one, and changes nothing', async () => {
  const args = add('--owner=twice', ...main);
  const { rule } = await json(...args);
  const before = await json('audit');
  expect(await run(...args)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`The same rule already exists: ${rule.id}.`),
  });
  expect(await json('audit')).toEqual(before);
});

describe('trust add', () => {
  const warned = async (...args: readonly string[]): Promise<string> => {
    const { warnings, rule } = await json(...add(...args));
    await run('trust', 'remove', rule.id);
    return warnings.join(' ');
  };
  const other = ['--repository-id=9', '--repository-owner-id=45', '--owner=warned'];

  test.each<readonly [says: string, args: readonly string[]]>([
    ['Every workflow on every branch of the repository can use this rule.', other],
    ['with a .github/workflows/a.yml of its own.', [...other, '--workflow=.github/workflows/a.yml']],
    ['Every workflow on every branch', [...other, '--event=push']],
    ['Every job there can use this rule', ['--owner=warned', '--issuer=https://gitlab.com', '--claim=project_id=9']],
    [
      'A pull request from a fork can control what they do',
      [...other, '--event=pull_request_target', '--ref=refs/heads/main'],
    ],
    ['The workspace "sampel" does not exist.', [...other, '--ref=refs/heads/main', '--workspaces=sample,sampel']],
  ])('warns: %s', async (says, args) => {
    expect(await warned(...args)).toContain(says);
    const { stdout } = await run(...add(...args));
    expect(stdout).toContain('\nWarning: ');
  });

  test.each<readonly [args: readonly string[]]>([
    [['--ref=refs/heads/main']],
    [['--environment=production']],
    [['--claim=job_workflow_ref=octo/shared/.github/workflows/a.yml@refs/heads/main']],
  ])('does not warn about a narrow rule: %j', async (narrow) => {
    expect(await warned('--repository-id=8', '--repository-owner-id=45', '--owner=narrow', ...narrow)).toBe('');
  });

  test('warns about another rule that matches the same job, because such a job is refused', async () => {
    const ids = ['--repository-id=7', '--repository-owner-id=45', '--owner=one', '--scopes=sync'];
    const { rule } = await json('trust', 'add', ...ids, '--ref=refs/heads/main');
    const warning = (...args: readonly string[]) =>
      json('trust', 'add', ...ids, ...args).then(({ warnings }) => warnings.join());
    expect(await warning('--ref=refs/heads/dev')).not.toContain(rule.id);
    expect(await warning('--event=pull_request')).not.toContain(rule.id);
    expect(await warning('--environment=production')).toContain(
      `A job that ${rule.id} matches as well is refused: exactly one rule must match.`,
    );
  });

  test('names the tokens that can release the locks of such jobs', async () => {
    const { token } = await json('token', 'create', '--name=shared-bot', '--scopes=locks:write');
    const { stdout } = await run(...add('--owner=shared-bot', '--repository-id=6', '--repository-owner-id=45'));
    expect(stdout).toContain(`The owner "shared-bot" already has another active token: "shared-bot" (${token.id}).`);
  });
});
