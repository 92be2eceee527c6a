import { CommandError } from '../../command/command.ts';
import { repeated, required, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { scopes } from '../contract/scopes.ts';
import { githubIssuer, newRule, parseClaim, parseIssuer, parseRuleOwner, ruleProblems } from '../trust/new-rule.ts';
import { addTrustRule, listTrustRules, removeTrustRule } from '../trust/rules.ts';
import { defineStorageCommand, requireWorkspaces } from './storage-command.ts';
import { idOf, permissionFlags, permissionsText, scopeLine, shown } from './token.ts';

const ruleFlags = {
  owner: required('OWNER', 'the owner of the locks of these jobs; case-sensitive', parseRuleOwner),
  claim: repeated('NAME=VALUE', 'require this claim with exactly this value; repeatable', parseClaim, 'at least one'),
  issuer: withDefault('URL', 'the OIDC issuer (iss) of the jobs', parseIssuer, githubIssuer),
  ...permissionFlags,
};

const trustAdd = defineStorageCommand({
  name: 'trust add',
  summary: 'trust the CI jobs of a repository, so that they need no stored token',
  details: [
    'A job exchanges the identity token from its CI system for an API token that expires after 15 minutes.',
    "Find the ids on GitHub with: gh api repos/OWNER/NAME --jq '.id, .owner.id'",
    'A custom property of a repository on GitHub is the claim repo_property_NAME.',
    'For GitLab, Buildkite and others, set --issuer.',
    'Scopes:',
    ...scopes.filter((scope) => scope !== 'admin').map((scope) => `  ${scopeLine(scope)}`),
  ],
  flags: ruleFlags,
  example:
    '--owner release-bot --claim repository_id=123 --claim repository_owner_id=45 --claim ref=refs/heads/main --scopes sync,locks:write',
  check: ruleProblems,
  async run({ flags: given }, storage) {
    await requireWorkspaces(storage, given.workspaces);
    const added = await storage.change((...by) => addTrustRule(...by, newRule(given)));
    const { rule } = added;
    const claims = Object.entries(rule.claims).map(([name, value]) => `${name}=${value}`);
    if (added.kind === 'exists') throw new CommandError(`The same rule already exists: ${rule.id}. Nothing was added.`);
    return {
      document: { rule },
      lines: [
        `Added ${rule.id}. It trusts jobs of ${rule.issuer} with ${claims.join(', ')}.`,
        `${permissionsText(rule)} Their locks belong to "${rule.owner}".`,
      ],
    };
  },
});

const trustList = defineStorageCommand({
  name: 'trust list',
  summary: 'list all trust rules',
  example: '--json',
  async run(_context, storage) {
    const rules = await listTrustRules(storage);
    return {
      document: { rules },
      lines: textTable(
        rules.map(shown),
        ['id', 'owner', 'issuer', 'claims', 'scopes', 'workspaces', 'created_at'],
        'There are no trust rules yet. Add one with: workspace-service trust add --owner OWNER --claim NAME=VALUE --scopes LIST',
      ),
    };
  },
});

const trustRemove = defineStorageCommand({
  name: 'trust remove',
  summary: 'remove a trust rule',
  details: ['Tokens issued by the rule are revoked immediately. Their locks stay until they are released or expire.'],
  arguments: { id: required('ID', 'the id of the rule', idOf('trust', 'workspace-service trust list')) },
  example: 'trust_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11',
  async run({ arguments: { id } }, { change }) {
    const removed = await change((...by) => removeTrustRule(...by, id));
    if (removed === undefined)
      throw new CommandError(`There is no trust rule ${id}. Run "workspace-service trust list" to list the rules.`);
    return {
      document: { removed: id },
      lines: [
        `Removed ${id}. Jobs of ${removed.issuer} can no longer get tokens with it, and their current tokens are revoked.`,
      ],
    };
  },
});

export const trustCommands = [trustAdd, trustList, trustRemove];
