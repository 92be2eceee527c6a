import { type Command, CommandError } from '../../command/command.ts';
import { GitError } from '../git/git-error.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { audit } from './audit.ts';
import { backup, raiseFencesCommand, restore } from './backup.ts';
import { tokenCreate, tokenList, tokenRevoke, trustAdd, trustList, trustRemove } from './credentials.ts';
import { hookList, hookRemove } from './hook.ts';
import { poolAdd, poolList, poolRemove, poolUpdate } from './pool.ts';
import { serve } from './serve.ts';
import { signIn, workspaceLfs, workspacePushHook } from './url-commands.ts';
import { workspaceAdd, workspaceList, workspaceRemove } from './workspace.ts';
import { workspaceUpdate } from './workspace-settings.ts';

/** The commands of the operator, on the machine and the database of the service. */
export const operatorCommands: readonly Command[] = [
  serve,
  signIn,
  tokenCreate,
  tokenList,
  tokenRevoke,
  trustAdd,
  trustList,
  trustRemove,
  workspaceAdd,
  workspaceUpdate,
  workspaceLfs,
  workspacePushHook,
  workspaceList,
  workspaceRemove,
  poolAdd,
  poolUpdate,
  poolList,
  poolRemove,
  hookList,
  hookRemove,
  audit,
  backup,
  restore,
  raiseFencesCommand,
].map((command) => ({ ...command, run: (context) => command.run(context).catch(explain) }));

function explain(error: unknown): never {
  const sentence = error instanceof GitError ? error.message : databaseProblem(error);
  throw sentence === undefined || error instanceof CommandError ? error : new CommandError(sentence);
}
