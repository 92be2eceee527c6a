import { userInfo } from 'node:os';
import {
  type Command,
  type CommandContext,
  CommandError,
  type Definition,
  defineCommand,
  jsonFlag,
  type None,
} from '../../command/command.ts';
import { type Flags, type FlagValues, required, textOf, withDefault } from '../../command/flags.ts';
import { type CommandOutput, printLines, printOutput, quoted } from '../../command/print.ts';
import { didYouMean } from '../../interface/one-of.ts';
import type { Actor } from '../audit/audit.ts';
import type { Storage } from '../storage/storage.ts';
import { unknownWorkspaces } from '../tokens/new-token.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { databaseExists, openStorage, printMigration } from './open-storage.ts';

export const dataFolder = './workspace-data';

export const parseFolder = textOf('the path of a folder');

/** Flags of every command that reads the stored data. */
export const commonFlags = {
  data: withDefault('FOLDER', 'the data folder of the service', parseFolder, dataFolder),
  json: jsonFlag,
} as const;

export const storageVariables = [['DATABASE_URL', 'a PostgreSQL database, instead of SQLite in --data']] as const;

/** `isPiped` if stdout already has other output. */
type StorageOutput = CommandOutput & { readonly isPiped?: boolean };

interface StorageDefinition<F extends Flags, A extends Flags>
  extends Omit<Definition<F & typeof commonFlags, A>, 'flags' | 'run'> {
  readonly flags?: F;
  /** It creates a missing database. The others report a mistyped folder, and do not use it as an empty service. */
  readonly createsDatabase?: true;
  run(context: CommandContext<F & typeof commonFlags, A>, storage: Storage): Promise<StorageOutput | undefined>;
}

/** Defines a command that works on the stored data of the service. An argument `workspace` must exist there. */
export function defineStorageCommand<F extends Flags = None, A extends Flags = None>({
  createsDatabase,
  flags,
  ...definition
}: StorageDefinition<F, A>): Command {
  return defineCommand<F & typeof commonFlags, A>({
    variables: storageVariables,
    ...definition,
    // Without flags of its own, F is empty.
    flags: { ...flags, ...commonFlags } as F & typeof commonFlags,
    async run(context) {
      const { io, environment } = context;
      // The common flags are always among the flags. TypeScript cannot infer this.
      const { data, json } = context.flags as FlagValues<typeof commonFlags>;
      const exists = databaseExists(data, environment);
      if (!exists && !createsDatabase) throw noDataIn(data);
      const storage = await openStorage(data, environment, { onMigrated: printMigration(io) });
      try {
        if (!exists) printLines(io.stderr, [`Created a database in the folder ${quoted(data)}.`]);
        const workspace: unknown = Reflect.get(context.arguments, 'workspace');
        if (typeof workspace === 'string') await requireWorkspaces(storage, [workspace]);
        const output = await definition.run(context, storage);
        if (output !== undefined) printOutput(output.isPiped ? io.stderr : io.stdout, json, output);
      } finally {
        await storage.close();
      }
    },
  });
}

export const workspaceArgument = required('WORKSPACE', 'the id of the workspace', parseWorkspaceId);

export async function requireWorkspaces({ read }: Storage, ids: readonly string[]): Promise<void> {
  const { unknown, known } = await unknownWorkspaces(read, ids);
  if (unknown.length === 0) return;
  const suggestions = unknown.map((id) => didYouMean(id, known));
  const sentences = unknown.map((id, index) => `There is no workspace "${id}". ${suggestions[index]}`);
  const advice = suggestions.includes('') ? 'Run "workspace-service workspace list" to list them.' : '';
  throw new CommandError(`${sentences.join('')}${advice}`.trimEnd());
}

/** The system user as the actor. Access to the folder or database permits everything, so no token is involved. */
export const operatorActor = (): Actor => ({ name: `operator:${systemUser()}`, tokenId: null, address: null });

const noDataIn = (data: string): CommandError =>
  new CommandError(
    `The folder ${quoted(data)} contains no data of a service. Name the data folder with --data, or start a service there with "workspace-service serve".`,
  );

/** In a container, a user may have an id but no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
