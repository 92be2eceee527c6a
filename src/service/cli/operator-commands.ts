import { type Command, CommandError, defineCommand } from '../../command/command.ts';
import { variableOf } from '../../command/flags.ts';
import { GitError } from '../git/git-error.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { audit } from './audit.ts';
import { backupCommands } from './backup.ts';
import { hookCommands } from './hook.ts';
import { poolCommands } from './pool.ts';
import { devDataFolder, serveFlags } from './settings.ts';
import { dataFolder, storageVariables } from './storage-command.ts';
import { tokenCommands } from './token.ts';
import { trustCommands } from './trust.ts';
import { urlCommands } from './url-commands.ts';
import { workspaceCommands } from './workspace.ts';

const serve = defineCommand({
  name: 'serve',
  summary: 'run the service',
  details: [
    'It speaks plain HTTP: put a proxy with TLS in front of it before other machines use it.',
    'SIGTERM or SIGINT stops it gracefully; a second signal, at least a second later, stops it at once.',
  ],
  variables: storageVariables,
  flags: serveFlags,
  example: '--dev',
  async run({ flags, environment, io, commands }) {
    // All commands may run in the same environment.
    const known = new Set(commands.flatMap((command) => Object.keys(command.flags).map(variableOf)));
    const ours = Object.keys(environment).filter((name) => name.startsWith(variableOf('')));
    const unknownVariables = ours.filter((name) => !known.has(name)).toSorted();
    // Imported here because the other commands do not need the service.
    const { runService } = await import('./run-service.ts');
    const { data = flags.dev ? devDataFolder : dataFolder } = flags;
    await runService({ ...flags, data }, environment, io, unknownVariables);
  },
});

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
