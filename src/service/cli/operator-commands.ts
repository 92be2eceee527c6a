import { type Command, CommandError } from '../../command/command.ts';
import { GitError } from '../git/git-error.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { audit } from './audit.ts';
import { backupCommands } from './backup.ts';
import { hookCommands } from './hook.ts';
import { poolCommands } from './pool.ts';
import { serve } from './serve.ts';
import { tokenCommands } from './token.ts';
import { trustCommands } from './trust.ts';
import { urlCommands } from './url-commands.ts';
import { workspaceCommands } from './workspace.ts';

/** The commands of the operator, on the machine and the database of the service. */
export const operatorCommands: readonly Command[] = [
  serve,
  ...tokenCommands,
  ...trustCommands,
  ...workspaceCommands,
  ...urlCommands,
  ...poolCommands,
  ...hookCommands,
  audit,
  ...backupCommands,
].map((command) => ({ ...command, run: (context) => command.run(context).catch(explain) }));

function explain(error: unknown): never {
  const sentence = error instanceof GitError ? error.message : databaseProblem(error);
  throw sentence === undefined || error instanceof CommandError ? error : new CommandError(sentence);
}
