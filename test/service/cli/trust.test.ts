import { expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';

const { run, json, audited } = besideService();

const game = ['--claim=repository_id=123', '--claim=repository_owner_id=45'];
const main = [...game, '--claim=ref=refs/heads/main'];
const add = (...args: readonly string[]) => ['trust', 'add', '--scopes=sync,locks:write', ...args];
const gitlab = ['--issuer=https://gitlab.com', '--claim=project_id=22', '--claim', 'ref=a,b'];

test('trust rules are added, listed and removed, and recorded in the audit', async () => {
  expect((await run('trust', 'list')).stdout).toContain('There are no trust rules yet. Add one with: ');
  const args = [...main, '--claim=environment=production', '--workspaces=sample,sample'];
  const { rule } = await json(...add('--owner=release-bot', ...args));
  expect(rule).toEqual({
    id: expect.stringMatching(/^trust_[0-9a-f-]{36}$/),
    issuer: 'https://token.actions.githubusercontent.com',
    owner: 'release-bot',
    claims: { repository_id: '123', repository_owner_id: '45', ref: 'refs/heads/main', environment: 'production' },
    scopes: ['sync', 'locks:write'],
    workspaces: ['sample'],
    created_at: expect.stringMatching(/Z$/),
  });
  const { stdout } = await run(...add('--owner=art-bot', ...gitlab));
  expect(stdout).toMatch(/^Added trust_\S+\. It trusts jobs of https:\/\/gitlab\.com with project_id=22, ref=a,b\.\n/);
  expect(stdout).toContain('Scopes: sync, locks:write. Workspaces: all. Their locks belong to "art-bot".');
  expect((await json('trust', 'list')).rules).toEqual([rule, expect.objectContaining({ owner: 'art-bot' })]);
  const [head, row] = (await run('trust', 'list')).stdout.split('\n');
  expect(head).toMatch(/^ID +OWNER +ISSUER +CLAIMS +SCOPES +WORKSPACES +CREATED AT$/);
  expect(row).toContain('ref=refs/heads/main environment=production');
  expect(await json('trust', 'remove', rule.id)).toEqual({ removed: rule.id });
  expect((await json('trust', 'list')).rules).toHaveLength(1);
  const entries = await audited('trust.removed');
  const { id, created_at: _, ...said } = rule;
  expect(entries).toMatchObject([{ actor: expect.stringMatching(/^operator:/), detail: { rule: id, ...said } }]);
  expect(await audited('trust.added')).toHaveLength(2);
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
