import { CommandError } from '../../command/command.ts';
import { list, repeated, required, withDefault } from '../../command/flags.ts';
import { quoted, textTable } from '../../command/print.ts';
import { timeCell } from '../../interface/format.ts';
import { scopes } from '../contract/scopes.ts';
import type { Storage } from '../storage/storage.ts';
import { scopeLimitProblem, tokenFields } from '../tokens/new-token.ts';
import { createTokenAudited, listTokens, revokeTokenAudited, type Token } from '../tokens/tokens.ts';
import { githubIssuer } from '../trust/github-issuer.ts';
import { newRule, parseClaim, parseIssuer, parseRuleOwner, ruleProblems } from '../trust/new-rule.ts';
import { addTrustRule, listTrustRules, type NewTrustRule, removeTrustRule } from '../trust/rules.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { defineStorageCommand, operatorActor, requireWorkspaces } from './storage-command.ts';
import { idOf, optionalField, parseScope, parseTokenIdOrName, scopeLine } from './values.ts';

/** Permissions of an API token, or of the tokens that a trust rule issues to jobs. */
const permissionFlags = {
  scopes: { ...list('LIST', 'the scopes of the token, separated by commas', parseScope, 'required'), alias: 'scope' },
  workspaces: list('LIST', 'limit the token to these workspaces, separated by commas', parseWorkspaceId, 'default all'),
};

const tokenCreate = defineStorageCommand({
  name: 'token create',
  summary: 'create an API token and print its secret',
  details: [
    'A lock belongs to the owner of the token that acquired it, and every token of that owner can renew and release it.',
    'Scopes:',
    ...scopes.map((scope) => `  ${scopeLine(scope)}`),
  ],
  arguments: { named: optionalField({ ...tokenFields.name, otherwise: 'or --name' }) },
  flags: {
    name: optionalField({ ...tokenFields.name, otherwise: 'or as the argument' }),
    owner: optionalField(tokenFields.owner),
    expires: optionalField(tokenFields.expires),
    ...permissionFlags,
  },
  example: 'ci --scopes sync,locks:write --expires 90d',
  mayBeNew: 'in-folder',
  check({ name, scopes, workspaces }, { named }) {
    if (name === undefined && named === undefined) return [`NAME is missing: ${tokenFields.name.hint}.`];
    if (name !== undefined && named !== undefined) return ['The name is given twice: leave --name out.'];
    const reason = scopeLimitProblem(scopes, workspaces.length === 0 ? null : workspaces);
    return reason === undefined ? [] : [`${reason} Leave --workspaces out, or name other scopes.`];
  },
  async run({ flags, arguments: { named } }, storage) {
    const { owner, expires: lifetime = null } = flags;
    // check() has found one of them.
    const name = named ?? flags.name ?? '';
    const scopes = [...new Set(flags.scopes)];
    const workspaces = flags.workspaces.length === 0 ? null : [...new Set(flags.workspaces)];
    await requireWorkspaces(storage, workspaces ?? []);
    const { token, secret } = await storage.commit('global', (db) =>
      createTokenAudited(db, storage.now, operatorActor(), { name, owner, scopes, workspaces, lifetime }),
    );
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
  details: ['The time of last use lags by a few seconds, and is not saved if the service is killed.'],
  example: '--json',
  async run(_context, storage) {
    const tokens = await listTokens(storage);
    return {
      document: { tokens },
      lines: textTable(
        tokens,
        {
          ID: ({ id }) => id,
          NAME: ({ name }) => name,
          OWNER: ({ owner }) => owner,
          STATE: ({ state }) => state,
          SCOPES: ({ scopes }) => scopes.join(','),
          WORKSPACES: ({ workspaces }) => workspaces?.join(',') ?? 'all',
          CREATED: ({ created_at }) => timeCell(created_at),
          EXPIRES: ({ expires_at }) => timeCell(expires_at) || 'never',
          'LAST USED': ({ last_used_at }) => timeCell(last_used_at),
        },
        'There are no tokens yet. Create one with: workspace-service token create NAME --scopes LIST',
      ),
    };
  },
});

const tokenRevoke = defineStorageCommand({
  name: 'token revoke',
  summary: 'revoke an API token immediately and permanently',
  details: ['Its locks stay until they are released or expire.'],
  arguments: { token: required('ID|NAME', 'the id of the token, or its name if that is unique', parseTokenIdOrName) },
  example: 'release-bot',
  async run({ arguments: { token: idOrName } }, storage) {
    const id = await tokenId(storage, idOrName);
    const revocation = await storage.commit('global', (db) => revokeTokenAudited(db, storage.now, operatorActor(), id));
    if (revocation === 'unknown')
      throw new CommandError(`There is no token ${id}. Run "workspace-service token list" to list all tokens.`);
    return {
      document: { id, state: 'revoked' },
      lines: [
        revocation === 'revoked'
          ? `The token ${id} is revoked. Requests with it are refused.`
          : `The token ${id} was already revoked.`,
      ],
    };
  },
});

const permissionsText = ({ scopes, workspaces }: Pick<Token, 'scopes' | 'workspaces'>): string =>
  `Scopes: ${scopes.join(', ')}. Workspaces: ${workspaces?.join(', ') ?? 'all'}.`;

/** The id of a token. A name is accepted if exactly one active token has it. */
async function tokenId(storage: Storage, idOrName: string): Promise<string> {
  if (idOrName.startsWith('tok_')) return idOrName;
  const named = (await listTokens(storage)).filter(({ name, state }) => name === idOrName && state === 'active');
  const [id, ...more] = named.map(({ id }) => id);
  if (id === undefined)
    throw new CommandError(
      `There is no active token ${quoted(idOrName)}. Run "workspace-service token list" to list all tokens.`,
    );
  if (more.length === 0) return id;
  throw new CommandError(
    `${named.length} active tokens have the name ${quoted(idOrName)}. Use the id of one of them: ${[id, ...more].join(', ')}.`,
  );
}

const ruleFlags = {
  owner: required('OWNER', 'the owner of the locks of these jobs; case-sensitive', parseRuleOwner),
  claim: repeated('NAME=VALUE', 'require this claim with exactly this value; repeatable', parseClaim, 'at least one'),
  issuer: withDefault('URL', 'the OIDC issuer (iss) of the jobs', parseIssuer, githubIssuer),
  ...permissionFlags,
};

const claimsOf = ({ claims }: NewTrustRule): readonly string[] =>
  Object.entries(claims).map(([name, value]) => `${name}=${value}`);

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
  mayBeNew: 'in-folder',
  check: ruleProblems,
  async run({ flags: given }, storage) {
    const added = await storage.commit('global', (db) =>
      addTrustRule(db, storage.now, operatorActor(), newRule(given)),
    );
    const { rule } = added;
    if (added.kind === 'exists') throw new CommandError(`The same rule already exists: ${rule.id}. Nothing was added.`);
    return {
      document: { rule },
      lines: [
        `Added ${rule.id}. It trusts jobs of ${rule.issuer} with ${claimsOf(rule).join(', ')}.`,
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
        rules,
        {
          ID: ({ id }) => id,
          OWNER: ({ owner }) => owner,
          ISSUER: ({ issuer }) => issuer,
          CLAIMS: (rule) => claimsOf(rule).join(' '),
          SCOPES: ({ scopes }) => scopes.join(','),
          WORKSPACES: ({ workspaces }) => workspaces?.join(',') ?? 'all',
          CREATED: ({ created_at }) => timeCell(created_at),
        },
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
  async run({ arguments: { id } }, storage) {
    const removed = await storage.commit('global', (db) => removeTrustRule(db, storage.now, operatorActor(), id));
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

export const credentialCommands = [tokenCreate, tokenList, tokenRevoke, trustAdd, trustList, trustRemove];
