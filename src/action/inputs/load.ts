import { type ConnectionInputs, readConnection } from './connection.ts';
import { parseBoolean, parseOneOf } from './parse.ts';
import { readTask } from './read-task.ts';
import { createReader } from './reader.ts';
import { type FromLedger, type GetInput, type InputName, operations, readRawInputs, unusedInputs } from './table.ts';
import type { Task } from './task.ts';

export interface Inputs {
  readonly connection: ConnectionInputs;
  readonly task: Task;
  readonly summary: boolean;
  /** Inputs that the workflow sets but the operation does not use. */
  readonly unused: readonly InputName[];
}

export type LoadedInputs =
  | { readonly ok: true; readonly inputs: Inputs }
  /** All problems, each with the name of the input, its value and what is allowed. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** The task of the step, or all problems with its inputs. */
export function loadInputs(
  getInput: GetInput,
  environment: NodeJS.ProcessEnv,
  { values, missing }: FromLedger = { values: {}, missing: {} },
): LoadedInputs {
  const given = readRawInputs(getInput, environment);
  const fromLedger = {
    'base-url': given['base-url'] || (values['base-url'] ?? ''),
    workspace: given.workspace || (values.workspace ?? ''),
  };
  const reader = createReader({ ...given, ...fromLedger }, missing);
  const operation = reader.read('operation', parseOneOf(operations));
  const connection = readConnection(reader, environment);
  const summary = reader.read('summary', parseBoolean);
  const task = operation && readTask(operation, reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems };
  }
  return { ok: true, inputs: { connection, task, summary, unused: unusedInputs(getInput, task.operation) } };
}
