import { type GetInput, readInputs, unusedText } from './read.ts';
import {
  type InputName,
  inputNames,
  type inputTable,
  isUsedBy,
  type OperationName,
  operations,
  type RawInputs,
  type ValueOf,
} from './table.ts';

/** The work of one step: an operation with the inputs that only some operations use. */
export type Task = { readonly [Operation in OperationName]: TaskOf<Operation> }[OperationName];

export type TaskOf<Operation extends OperationName> = { readonly operation: Operation } & {
  readonly [Name in NamesOf<Operation>]: ValueOf<Name>;
};

type NamesOf<Operation extends OperationName> = {
  [Name in InputName]: UsedBy<Name> extends 'all' ? never : Operation extends UsedBy<Name>[number] ? Name : never;
}[InputName];

type UsedBy<Name extends InputName> = (typeof inputTable)[Name]['usedBy'];

/** The task of the step, or all problems with its inputs, each with the name, the value and what is allowed. */
export function loadInputs(raw: RawInputs, getInput: GetInput, environment: NodeJS.ProcessEnv) {
  const operation = operations.find((name) => name === raw.operation);
  const names = inputNames.filter((name) => isUsedBy(operation, name));
  const read = readInputs(raw, names, environment);
  if (!read.ok) return read;
  const { values } = read;
  const unused = unusedText(getInput, values.operation);
  // The values are those of the inputs that this operation uses.
  const task = values as Task;
  return { ok: true, inputs: { connection: connectionOf(values), task, summary: values.summary, unused } } as const;
}

const connectionInputs = ['base-url', 'allow-http', 'token', 'audience', 'request-timeout', 'retries'] as const;

export function readConnection(raw: RawInputs, environment: NodeJS.ProcessEnv) {
  const read = readInputs(raw, connectionInputs, environment);
  if (!read.ok) return { ok: false, problems: read.problems } as const;
  return { ok: true, value: connectionOf(read.values) } as const;
}

export type ConnectionInputs = ReturnType<typeof connectionOf>;

function connectionOf(values: { readonly [Name in (typeof connectionInputs)[number]]: ValueOf<Name> }) {
  const { 'base-url': baseUrl, 'allow-http': allowHttp, token, audience = new URL(baseUrl).origin } = values;
  const credentials = token.kind === 'static' ? token : { ...token, audience };
  return { allowHttp, baseUrl, credentials, requestTimeout: values['request-timeout'], retries: values.retries };
}
