import { timeCell } from '../../../interface/format.ts';
import { githubIssuer } from '../../../interface/github-issuer.ts';
import { scopes } from '../../../interface/scopes.ts';
import type { Field } from '../../contract/field.ts';
import { activeTokensOf } from '../../tokens/tokens.ts';
import { type EnteredRule, readRule, repeatedRuleFields, ruleFields } from '../../trust/new-rule.ts';
import type { RuleClaim } from '../../trust/rule-claim.ts';
import { addTrustRule, listTrustRules, maxTrustRules, type NewTrustRule, removeTrustRule } from '../../trust/rules.ts';
import { warningsOf } from '../../trust/warnings.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { CommandError } from '../definition/command.ts';
import {
  type FlagValues,
  flagName,
  optionalField,
  repeated,
  required,
  requiredField,
  withDefault,
} from '../definition/flags.ts';
import { idOf, scopeLine } from '../definition/values.ts';
import { textTable } from '../output/table.ts';
import { defineStorageCommand, operatorActor } from '../storage/storage-command.ts';
import { permissionFlags, permissionsText, sharedOwnerLines } from './token.ts';

const { repository, repositoryId, repositoryOwnerId, ref, environment, workflow, event, owner, issuer } = ruleFields;

const repeatedField = ({ placeholder, hint, otherwise, parse }: Field<RuleClaim>) =>
  repeated(placeholder, `${hint}; repeatable`, parse, otherwise);

const flags = {
  owner: requiredField(owner),
  repositoryId: optionalField(repositoryId),
  repositoryOwnerId: optionalField(repositoryOwnerId),
  repository: optionalField(repository),
  ref: optionalField(ref),
  environment: optionalField(environment),
  workflow: optionalField(workflow),
  event: optionalField(event),
  property: repeatedField(repeatedRuleFields.properties),
  claim: repeatedField(repeatedRuleFields.claims),
  issuer: withDefault(issuer.placeholder, issuer.hint, issuer.parse, githubIssuer),
  ...permissionFlags,
};

const enteredRule = ({ property, claim, ...entered }: FlagValues<typeof flags>): EnteredRule => ({
  ...entered,
  properties: property,
  claims: claim,
});

/** The flags of fields with a name in the plural. */
const singular: Readonly<Record<string, string>> = { properties: 'property', claims: 'claim' };

const claimsOf = ({ claims, workflow }: NewTrustRule): readonly string[] => [
  ...Object.entries(claims).map(([name, value]) => `${name}=${value}`),
  ...(workflow === null ? [] : [`workflow=${workflow}`]),
];

export const trustAdd = defineStorageCommand({
  name: 'trust add',
  summary: 'trust the CI jobs of a repository, so that they need no stored token',
  details: [
    'A job exchanges the identity token from its CI system for an API token that expires after 15 minutes.',
    "Find the ids on GitHub with: gh api repos/OWNER/NAME --jq '.id, .owner.id'",
    'For all repositories of an owner with a custom property, set --property, and omit --repository-id.',
    'For GitLab, Buildkite and others, set --issuer, and require claims with --claim.',
    'Scopes:',
    ...scopes.filter((scope) => scope !== 'admin').map((scope) => `  ${scopeLine(scope)}`),
  ],
  flags,
  example:
    '--owner release-bot --repository octo/game --repository-id 123 --repository-owner-id 45 --ref refs/heads/main --scopes sync,locks:write',
  mayBeNew: 'in-folder',
  check(given) {
    const read = readRule(enteredRule(given));
    if (read.ok) return [];
    return Object.entries(read.errors).map(([field, reason]) => `--${singular[field] ?? flagName(field)}: ${reason}`);
  },
  async run({ flags: given }, storage) {
    const read = readRule(enteredRule(given));
    if (!read.ok) throw new Error('check() accepted an invalid rule.');
    const { added, others } = await storage.commit('global', async (db) => ({
      added: await addTrustRule(db, storage.now, operatorActor(), read.value),
      others: await activeTokensOf(db, storage.now, read.value.owner),
    }));
    if (added.kind === 'too-many')
      throw new CommandError(`There are already ${maxTrustRules} trust rules. Remove one that is no longer used.`);
    const { rule } = added;
    if (added.kind === 'exists') throw new CommandError(`The same rule already exists: ${rule.id}. Nothing was added.`);
    const workspaces = (await listWorkspaces(storage.read)).map(({ id }) => id);
    const warnings = warningsOf(rule, await listTrustRules(storage), workspaces);
    return {
      document: { rule, warnings },
      lines: [
        `Added ${rule.id}. It trusts jobs of ${rule.repository ?? rule.issuer} with ${claimsOf(rule).join(', ')}.`,
        `${permissionsText(rule)} Their locks belong to "${rule.owner}".`,
        ...sharedOwnerLines(rule, others),
        ...warnings.map((warning) => `Warning: ${warning}`),
      ],
    };
  },
});

export const trustList = defineStorageCommand({
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
          REPOSITORY: ({ repository }) => repository,
          CLAIMS: (rule) => claimsOf(rule).join(' '),
          SCOPES: ({ scopes }) => scopes.join(','),
          WORKSPACES: ({ workspaces }) => workspaces?.join(',') ?? 'all',
          CREATED: ({ created_at }) => timeCell(created_at),
        },
        'There are no trust rules yet. Add one with: workspace-service trust add --owner OWNER --repository-id ID --repository-owner-id ID --scopes LIST',
      ),
    };
  },
});

export const trustRemove = defineStorageCommand({
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
        `Removed ${id}. Jobs of ${removed.repository ?? removed.issuer} can no longer get tokens with it, and their current tokens are revoked.`,
      ],
    };
  },
});
