import { oneOf } from '../../interface/one-of.ts';
import { readConnection } from './connection.ts';
import { parseBoolean } from './parse.ts';
import { readTask } from './read-task.ts';
import { createReader } from './reader.ts';
import { type FromLedger, type GetInput, operations, type RawInputs, unusedInputs } from './table.ts';

export type LoadedInputs = ReturnType<typeof loadInputs>;

/** The task of the step, or all problems with its inputs: each with the name, the value and what is allowed. */
export function loadInputs(
  raw: RawInputs,
  getInput: GetInput,
  environment: NodeJS.ProcessEnv,
  { values, missing }: FromLedger = { values: {}, missing: {} },
) {
  const fromLedger = {
    'base-url': raw['base-url'] || (values['base-url'] ?? ''),
    workspace: raw.workspace || (values.workspace ?? ''),
  };
  const reader = createReader({ ...raw, ...fromLedger }, missing);
  const operation = reader.read('operation', oneOf(operations));
  const connection = readConnection(reader, environment);
  const summary = reader.read('summary', parseBoolean);
  const task = operation && readTask(operation, reader, environment);
  if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
    return { ok: false, problems: reader.problems } as const;
  }
  const unused = unusedInputs(getInput, task.operation);
  return { ok: true, inputs: { connection, task, summary, unused } } as const;
}
