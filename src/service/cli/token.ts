import { CommandError } from '../../command/command.ts';
import { list, optional, repeated, required, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { parsePositiveDuration } from '../../interface/duration.ts';
import { timeCell } from '../../interface/format.ts';
import { accepted, oneOf, type Parsed, refused } from '../../interface/parsed.ts';
import { type Scope, scopeMeanings, scopes } from '../contract/scopes.ts';
import { parseTokenName, parseTokenOwner, scopeLimitProblem } from '../tokens/new-token.ts';
import { createToken, listTokens, revokeToken, type Token } from '../tokens/tokens.ts';
import { githubIssuer, parseClaim, parseIssuer, parseRuleOwner, ruleProblems } from '../trust/new-rule.ts';
import { addTrustRule, listTrustRules, removeTrustRule } from '../trust/rules.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand, requireWorkspaces } from './storage-command.ts';

const scopeLine = (scope: Scope): string => `${scope} (${scopeMeanings[scope]})`;
const parseScope = oneOf(scopes, `The scopes are ${scopes.map(scopeLine).join(', ')}.`);

/** Permissions of an API token, or of the tokens that a trust rule issues to jobs. */
const permissionFlags = {
  scopes: list('LIST', 'the scopes of the token, separated by commas', parseScope, 'required'),
  workspaces: list('LIST', 'limit the token to these workspaces, separated by commas', parseWorkspaceId, 'default all'),
};

const nullForAll = (workspaces: readonly string[]) => (workspaces.length === 0 ? null : workspaces);

/** The error does not quote the value, because users confuse the secret of a token with its id. */
export const idOf =
  (kind: 'tok' | 'hook' | 'trust', listedBy: string) =>
  (text: string): Parsed<string> =>
    new RegExp(`^${kind}_[0-9a-f-]{36}$`).test(text)
      ? accepted(text)
      : refused(`It must be an id such as ${kind}_0b7c…, as listed by "${listedBy}".`);

const tokenCreate = defineStorageCommand({
  name: 'token create',
  summary: 'create an API token and print its secret',
  details: [
    'A lock belongs to the owner of the token that acquired it, and every token of that owner can renew and release it.',
    'Scopes:',
    ...scopes.map((scope) => `  ${scopeLine(scope)}`),
  ],
  flags: {
    name: required('NAME', 'a name for the token, such as "dragon ci"', parseTokenName),
    owner: optional(
      'OWNER',
      'the owner of its locks; case-sensitive',
      parseTokenOwner,
      'default the name of the token',
    ),
    expires: optional(
      'DURATION',
      'how long the token is valid, such as 12h or 90d',
      parsePositiveDuration,
      'default never',
    ),
    ...permissionFlags,
  },
  example: '--name ci --scopes sync,locks:write --expires 90d',
  check({ scopes, workspaces }) {
    const reason = scopeLimitProblem(scopes, nullForAll(workspaces));
    return reason === undefined ? [] : [`${reason} Leave --workspaces out, or name other scopes.`];
  },
  async run({ flags }, storage) {
    const { name, owner, scopes, workspaces, expires: lifetime = null } = flags;
    await requireWorkspaces(storage, workspaces);
    const created = { name, owner, scopes, workspaces: nullForAll(workspaces), lifetime };
    const { token, secret } = await storage.change((...by) => createToken(...by, created));
    return {
      document: { token, secret },
      lines: [
        secret,
        '',
        `This is the secret of the token "${token.name}" (${token.id}). Store it now: it is not shown again.`,
        `${permissionsText(token)} Expires: ${timeCell(token.expires_at) || 'never'}. Its locks belong to "${token.owner}".`,
      ],
    };
  },
});

const tokenList = defineStorageCommand({
  name: 'token list',
  summary: 'list all API tokens, without their secrets',
  example: '--json',
  async run(_context, storage) {
    const tokens = await listTokens(storage);
    return {
      document: { tokens },
      lines: textTable(
        tokens.map((token) => ({ ...shown(token), expires_at: token.expires_at ?? 'never' })),
        ['id', 'name', 'owner', 'state', 'scopes', 'workspaces', 'created_at', 'expires_at'],
        'There are no tokens yet. Create one with: workspace-service token create --name NAME --scopes LIST',
      ),
    };
  },
});

const tokenRevoke = defineStorageCommand({
  name: 'token revoke',
  summary: 'revoke an API token immediately and permanently',
  details: ['Its locks stay until they are released or expire.'],
  arguments: { id: required('ID', 'the id of the token', idOf('tok', 'workspace-service token list')) },
  example: 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11',
  async run({ arguments: { id } }, { change }) {
    const revocation = await change((...by) => revokeToken(...by, id));
    if (revocation === 'unknown')
      throw new CommandError(`There is no token ${id}. Run "workspace-service token list" to list all tokens.`);
    return {
      document: { id, state: 'revoked' },
      lines: [`The token ${id} is revoked. Requests with it are refused.`],
    };
  },
});

/** For a table. */
const shown = <T extends Pick<Token, 'workspaces'>>(row: T) => ({ ...row, workspaces: row.workspaces ?? 'all' });

const permissionsText = ({ scopes, workspaces }: Pick<Token, 'scopes' | 'workspaces'>): string =>
  `Scopes: ${scopes.join(', ')}. Workspaces: ${workspaces?.join(', ') ?? 'all'}.`;

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
  async run({ flags: { issuer, owner, claim, scopes, workspaces } }, storage) {
    await requireWorkspaces(storage, workspaces);
    const added = { issuer, owner, claims: Object.fromEntries(claim), scopes, workspaces: nullForAll(workspaces) };
    const { kind, rule } = await storage.change((...by) => addTrustRule(...by, added));
    const claims = Object.entries(rule.claims).map(([name, value]) => `${name}=${value}`);
    if (kind === 'exists') throw new CommandError(`The same rule already exists: ${rule.id}. Nothing was added.`);
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

export const tokenCommands = [tokenCreate, tokenList, tokenRevoke, trustAdd, trustList, trustRemove];
