import { joinFirst, timeCell } from '../../../interface/format.ts';
import { scopes } from '../../../interface/scopes.ts';
import type { Storage } from '../../storage/storage.ts';
import { scopeLimitProblem, tokenFields } from '../../tokens/new-token.ts';
import { activeTokensOf, createTokenAudited, listTokens, revokeTokenAudited, type Token } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { CommandError } from '../definition/command.ts';
import { list, optionalField, required } from '../definition/flags.ts';
import { parseScope, parseTokenIdOrName, scopeLine } from '../definition/values.ts';
import { quoted } from '../output/print.ts';
import { textTable } from '../output/table.ts';
import { defineStorageCommand, operatorActor, requireWorkspaces } from '../storage/storage-command.ts';

/** Permissions of an API token, or of the tokens that a trust rule issues to jobs. */
export const permissionFlags = {
  scopes: { ...list('LIST', 'the scopes of the token, separated by commas', parseScope, 'required'), alias: 'scope' },
  workspaces: list('LIST', 'limit the token to these workspaces, separated by commas', parseWorkspaceId, 'default all'),
};

export const tokenCreate = defineStorageCommand({
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
    const { token, secret, others } = await storage.commit('global', async (db) => {
      const others = await activeTokensOf(db, storage.now, owner ?? name);
      const newToken = { name, owner, scopes, workspaces, lifetime };
      return { ...(await createTokenAudited(db, storage.now, operatorActor(), newToken)), others };
    });
    return {
      document: { token, secret, other_tokens_of_owner: others.map(({ id, name }) => ({ id, name })) },
      lines: [
        secret,
        '',
        `This is the secret of the token "${token.name}" (${token.id}). Store it now: it is not shown again.`,
        `${permissionsText(token)} Expires: ${timeCell(token.expires_at) || 'never'}. Its locks belong to "${token.owner}".`,
        ...sharedOwnerLines(token, others),
      ],
    };
  },
});

export const tokenList = defineStorageCommand({
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

export const tokenRevoke = defineStorageCommand({
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

export const permissionsText = ({ scopes, workspaces }: Pick<Token, 'scopes' | 'workspaces'>): string =>
  `Scopes: ${scopes.join(', ')}. Workspaces: ${workspaces?.join(', ') ?? 'all'}.`;

/** Warning about an owner with several tokens: each can release the locks of the others, which may not be intended. */
export function sharedOwnerLines({ owner }: Pick<Token, 'owner'>, others: readonly Token[]): readonly string[] {
  if (others.length === 0) return [];
  const names = joinFirst(others.map(({ id, name }) => `"${name}" (${id})`));
  return [
    `The owner "${owner}" already has ${others.length === 1 ? 'another active token' : 'other active tokens'}: ${names}.`,
    'Each of them can renew and release the locks of the others.',
  ];
}

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
