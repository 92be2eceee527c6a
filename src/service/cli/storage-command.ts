import { userInfo } from 'node:os';
import { CommandError, commandKind, jsonFlag } from '../../command/command.ts';
import { required, withDefault } from '../../command/flags.ts';
import { printLines, quoted } from '../../command/print.ts';
import { didYouMean, textOf } from '../../interface/parsed.ts';
import type { Actor } from '../audit/audit.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { unknownWorkspaces } from '../tokens/new-token.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { databaseExists, withDatabase } from './open-storage.ts';

export const dataFolder = './workspace-data';

export const parseFolder = textOf('the path of a folder');

/** Flags of every command that reads the stored data. */
export const commonFlags = {
  data: withDefault('FOLDER', 'the data folder of the service', parseFolder, dataFolder),
  json: jsonFlag,
} as const;

export const storageVariables = [['DATABASE_URL', 'a PostgreSQL database, instead of SQLite in --data']] as const;

export interface OperatorStorage extends Storage {
  /** Makes an audited change: of the workspace in the arguments, or otherwise a global one. */
  change<T>(make: (db: Database, actor: Actor) => Promise<T>): Promise<T>;
}

/** `createsDatabase`: create a missing database. Others refuse a folder without one, because it may be mistyped. */
const storageCommand = ({ createsDatabase }: { readonly createsDatabase: boolean }) =>
  commandKind(
    commonFlags,
    storageVariables,
    async (
      { flags: { data }, arguments: values, environment, io },
      work: (storage: OperatorStorage) => Promise<number>,
    ) => {
      const exists = databaseExists(data, environment);
      if (!exists && !createsDatabase) throw noDataIn(data);
      return withDatabase({ data, environment }, async (storage) => {
        if (!exists) printLines(io.stderr, [`Created a database in the folder ${quoted(data)}.`]);
        const { workspace } = values;
        if (typeof workspace === 'string') await requireWorkspaces(storage, [workspace]);
        const scope = typeof workspace === 'string' ? { workspace } : 'global';
        const change: OperatorStorage['change'] = (make) => storage.commit(scope, (db) => make(db, operatorActor()));
        return work({ ...storage, change });
      });
    },
  );

/** Defines a command on the stored data of the service. If it has the argument `workspace`, that must exist. */
export const defineStorageCommand = storageCommand({ createsDatabase: false });

export const defineCreatingCommand = storageCommand({ createsDatabase: true });

export const workspaceArgument = required('WORKSPACE', 'the id of the workspace', parseWorkspaceId);

export async function requireWorkspaces({ read }: Storage, ids: readonly string[]): Promise<void> {
  const { unknown, known } = await unknownWorkspaces(read, ids);
  const [id] = unknown;
  if (id === undefined) return;
  const advice = didYouMean(id, known) || 'Run "workspace-service workspace list" to list them.';
  throw new CommandError(`There is no workspace "${id}". ${advice}`.trimEnd());
}

/** The system user as the actor. Access to the folder or database permits everything, so no token is needed. */
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
