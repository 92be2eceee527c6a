import { revokeTokenBy } from '../../tokens/audited.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { idOf } from '../values.ts';
import { commonFlags } from './common-flags.ts';

export const tokenRevoke = defineCommand({
  name: 'token revoke',
  summary: 'end an API token at once and for good',
  details: ['Its locks stay until they are released or end.'],
  arguments: {
    id: { placeholder: 'ID', what: 'the id of the token', parse: idOf('tok', 'workspace-service token list') },
  },
  flags: commonFlags,
  example: 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11',
  async run({ flags, arguments: { id }, environment, io }) {
    const revocation = await withStorage({ ...flags, environment }, 'there', (storage) =>
      storage.commit('global', (db) => revokeTokenBy(db, storage.now, operatorActor(), id)),
    );
    if (revocation === 'unknown') {
      throw new Failure(
        `There is no token ${id}. The command "workspace-service token list" shows those that there are.`,
      );
    }
    if (flags.json) printJson(io.stdout, { id, state: 'revoked' });
    else if (revocation === 'revoked')
      printLines(io.stdout, [`The token ${id} is revoked: no request gets in with it.`]);
    else printLines(io.stdout, [`The token ${id} had been revoked already.`]);
  },
});
