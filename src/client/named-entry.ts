import { asObject, firstName, type Json, type JsonObject } from './json.ts';
import { plainName } from './service-text.ts';

/** A workspace or a branch: what it is called, and everything that the service says of it. */
export interface NamedEntry {
  readonly name: string;
  readonly raw: JsonObject;
}

/** Reads entries that are bare names, or objects that have their name under one of these. */
export const readNamed =
  (names: readonly string[]) =>
  (entry: Json): NamedEntry | undefined => {
    const name = typeof entry === 'string' ? entry : firstName(asObject(entry), names);
    if (name === undefined || name === '') return undefined;
    return { name: plainName(name), raw: asObject(entry) };
  };

export const readWorkspace = readNamed(['id', 'workspace_id', 'workspaceId', 'name', 'slug']);

export const readBranch = readNamed(['name', 'branch', 'ref', 'id']);
