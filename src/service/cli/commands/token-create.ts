import type { Storage } from '../../storage/storage.ts';
import { whyNotLimited } from '../../tokens/admin-limit.ts';
import { createTokenBy } from '../../tokens/audited.ts';
import { parseLifetime } from '../../tokens/lifetime.ts';
import { parseTokenName } from '../../tokens/token-name.ts';
import { unknownWorkspaces } from '../../tokens/unknown-workspaces.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { defineCommand } from '../command.ts';
import { didYouMean } from '../did-you-mean.ts';
import { Failure } from '../failure.ts';
import { list, optional, required, requiredList } from '../flags.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { shownTime } from '../output/times.ts';
import { parseScope, scopeLines } from '../values.ts';
import { commonFlags } from './common-flags.ts';

async function checkWorkspaces({ read }: Storage, ids: readonly string[]): Promise<void> {
  const { unknown, known } = await unknownWorkspaces(read, ids);
  if (unknown.length === 0) return;
  const sentences = unknown.map((id) => `There is no workspace "${id}". ${didYouMean(id, known)}`.trim());
  const there = known.length === 0 ? 'There is none yet' : `There are ${known.join(', ')}`;
  throw new Failure(`${sentences.join(' ')} ${there}; no token was made.`);
}

export const tokenCreate = defineCommand({
  name: 'token create',
  summary: 'create an API token and print its secret, this once',
  details: ['Scopes:', ...scopeLines.map((line) => `  ${line}`)],
  arguments: {},
  flags: {
    name: required({ placeholder: 'NAME', what: 'what its locks show as their owner' }, parseTokenName),
    scopes: requiredList({ placeholder: 'LIST', what: 'what it may do, separated by commas' }, parseScope),
    expires: optional(
      { placeholder: 'DURATION', what: 'when it ends, such as 12h or 90d' },
      'default never',
      parseLifetime,
    ),
    workspaces: list(
      { placeholder: 'LIST', what: 'the only workspaces it may see, separated by commas' },
      'default all',
      parseWorkspaceId,
    ),
    ...commonFlags,
  },
  example: '--name ci --scopes sync,locks:write --expires 90d',
  check({ scopes, workspaces }) {
    const why = whyNotLimited(scopes, workspaces.length === 0 ? null : workspaces);
    return why === undefined ? [] : [`${why} Leave --workspaces out, or name other scopes.`];
  },
  async run({ flags, environment, io }) {
    const { name, expires: lifetime } = flags;
    const scopes = [...new Set(flags.scopes)];
    const workspaces = flags.workspaces.length === 0 ? null : [...new Set(flags.workspaces)];
    const { token, secret } = await withStorage({ ...flags, environment }, 'there or new', async (storage) => {
      if (workspaces !== null) await checkWorkspaces(storage, workspaces);
      const newToken = { name, scopes, workspaces, lifetime };
      return storage.commit('global', (db) => createTokenBy(db, storage.now, operatorActor(), newToken));
    });
    if (flags.json) {
      printJson(io.stdout, { token, secret });
      return;
    }
    const seen = workspaces === null ? 'all workspaces' : `only ${workspaces.join(', ')}`;
    const end = token.expires_at === null ? 'it does not expire' : `until ${shownTime(token.expires_at)}`;
    printLines(io.stdout, [
      secret,
      '',
      `This is the secret of the token "${token.name}" (${token.id}). Keep it now: it is never shown again.`,
      `It may ${scopes.join(', ')} in ${seen}; ${end}.`,
    ]);
  },
});
