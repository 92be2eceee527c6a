import { type Command, CommandError, defineCommand } from '../../command/command.ts';
import { variableOf, withDefault } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { wholeNumber } from '../../interface/parsed.ts';
import { auditActions, readAudit } from '../audit/audit.ts';
import { GitError } from '../git/git-error.ts';
import { databaseProblem } from '../storage/unavailable.ts';
import { backupCommands } from './backup.ts';
import { hookCommands } from './hook.ts';
import { poolCommands } from './pool.ts';
import { devDataFolder, serveFlags } from './settings.ts';
import { dataFolder, defineStorageCommand, storageVariables } from './storage-command.ts';
import { tokenCommands } from './token.ts';
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
    // Other commands may run in the same environment, so their variables are known, too.
    const known = new Set(commands.flatMap((command) => Object.keys(command.flags).map(variableOf)));
    const ours = Object.keys(environment).filter((name) => name.startsWith(variableOf('')));
    const unknownVariables = ours.filter((name) => !known.has(name)).toSorted();
    // Imported on demand, because the other commands do not need the service.
    const { runService } = await import('./run-service.ts');
    const { data = flags.dev ? devDataFolder : dataFolder } = flags;
    await runService({ ...flags, data }, environment, io, unknownVariables);
  },
});

const maxEntries = 1_000_000;

const audit = defineStorageCommand({
  name: 'audit',
  summary: 'list the audit log: who did what, when, and from where; newest first',
  details: [
    `Actions: ${auditActions.join(', ')}.`,
    'Actions of a token on its own locks and syncs are in the log of the service, not here.',
  ],
  flags: {
    limit: withDefault('N', 'maximum number of entries to list', wholeNumber(1, maxEntries), '100'),
  },
  example: '--limit 1000',
  async run({ flags }, storage) {
    const { entries, isComplete } = await readAudit(storage, flags);
    const columns = ['at', 'actor', 'token_id', 'address', 'action', 'detail'] as const;
    const table = textTable(entries, columns, 'No entries found.');
    return {
      document: { entries, complete: isComplete },
      lines: isComplete ? table : [...table, '', 'There are older entries: raise --limit.'],
    };
  },
});

/** The commands of the operator, on the machine and the database of the service. */
export const operatorCommands: readonly Command[] = [
  serve,
  ...tokenCommands,
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
