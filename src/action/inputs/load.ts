import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type Connection, readConnection } from './connection.ts';
import { readTask } from './read-task.ts';
import { createReader } from './reader.ts';
import { type InputName, type OperationName, operations, readRawInputs, unusedInputs } from './table.ts';
import type { Task } from './task.ts';
import { parseBoolean } from './values.ts';

export interface Inputs {
  readonly connection: Connection;
  readonly task: Task;
  readonly summary: boolean;
  /** Inputs that were given and that the operation does not look at. */
  readonly unused: readonly InputName[];
}

export type LoadedInputs =
  | { readonly ok: true; readonly inputs: Inputs }
  /** All that is wrong, each with the name of the input, its value and what is allowed. */
  | { readonly ok: false; readonly problems: readonly string[] };

const parseOperation = (text: string): Parsed<OperationName> => {
  const found = operations.find((operation) => operation === text);
  return found === undefined ? refused(`It has to be one of ${operations.join(', ')}.`) : accepted(found);
};

/** Turns the environment of a step into what it is asked to do, or tells all that is wrong with it. */
export function loadInputs(environment: NodeJS.ProcessEnv): LoadedInputs {
  const reader = createReader(readRawInputs(environment));
  const operation = reader.read('operation', parseOperation);
  const connection = readConnection(reader);
  const summary = reader.read('summary', parseBoolean);
  const task = operation === undefined ? undefined : readTask(reader, operation, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems };
  }
  return { ok: true, inputs: { connection, task, summary, unused: unusedInputs(environment, task.operation) } };
}
