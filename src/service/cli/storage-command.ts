import type { Storage } from '../storage/storage.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { findWorkspace, listWorkspaces, type StoredWorkspace } from '../workspaces/workspaces.ts';
import { type Argument, type Arguments, type Call, type Command, type Definition, defineCommand } from './command.ts';
import { didYouMean } from './did-you-mean.ts';
import { Failure } from './failure.ts';
import { type Flags, type FlagValues, toggle, withDefault } from './flags.ts';
import { type Needs, withStorage } from './open-storage.ts';
import { printJson, printLines } from './output/print.ts';
import { parseFolder } from './values.ts';

/** Those of every command that looks at what the service has stored. */
export const commonFlags = {
  data: withDefault(
    { placeholder: 'FOLDER', what: 'the folder that the service keeps its data in' },
    './workspace-data',
    parseFolder,
  ),
  json: toggle('print one JSON document instead of text'),
} as const;

/** What a command says at its end: one document for a program, or lines for a person. */
export interface Answer {
  readonly document: unknown;
  readonly lines: readonly string[];
}

interface StorageDefinition<F extends Flags, A extends Arguments>
  extends Omit<Definition<F & typeof commonFlags, A>, 'flags' | 'run'> {
  readonly flags: F;
  /** By default the database has to exist. */
  readonly needs?: Needs;
  run(call: Omit<Call<F & typeof commonFlags, A>, 'io'>, storage: Storage): Promise<Answer>;
}

/** A command on what the service has stored. */
export function defineStorageCommand<F extends Flags, A extends Arguments>({
  needs = 'there',
  ...definition
}: StorageDefinition<F, A>): Command {
  return defineCommand<F & typeof commonFlags, A>({
    ...definition,
    flags: { ...definition.flags, ...commonFlags },
    async run({ io, ...call }) {
      // They are among the flags, whatever the others are: no type can follow that.
      const { data, json } = call.flags as FlagValues<typeof commonFlags>;
      const location = { data, environment: call.environment };
      const { document, lines } = await withStorage(location, needs, (storage) => definition.run(call, storage));
      if (json) printJson(io.stdout, document);
      else printLines(io.stdout, lines);
    },
  });
}

export const workspaceArgument: Argument<string> = {
  placeholder: 'WORKSPACE',
  what: 'the id of the workspace',
  parse: parseWorkspaceId,
};

/** Fails with the ids that there are. */
export async function existingWorkspace({ read }: Storage, id: string): Promise<StoredWorkspace> {
  const workspace = await findWorkspace(read, id);
  if (workspace !== undefined) return workspace;
  const ids = (await listWorkspaces(read)).map((known) => known.id);
  const hint = didYouMean(id, ids) || 'The command "workspace-service workspace list" shows those that there are. ';
  throw new Failure(`There is no workspace "${id}". ${hint.trim()}`);
}
