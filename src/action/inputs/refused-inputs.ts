import { type RefusedField, ServiceError, withRequest } from '../../client/service-error.ts';
import { errorText } from '../report/error-text.ts';
import { parseJsonObject } from './parse.ts';
import { inputText, quoted } from './reader.ts';
import type { InputName, OperationName, RawInputs } from './table.ts';

export interface GivenInputs {
  readonly raw: RawInputs;
  /** The branch of a sync defaults to that of the run. */
  readonly task: { readonly operation: OperationName; readonly branch?: string };
}

/** Formats an error for users. The service names the fields of a request; users know the inputs of the step. */
export const explainErrors =
  (given: GivenInputs) =>
  (error: unknown): string =>
    error instanceof ServiceError ? (refusalText(error, given) ?? error.message) : errorText(error);

const maxShown = 5;

/** Undefined if the error is not about an input. */
function refusalText({ failure, request }: ServiceError, given: GivenInputs): string | undefined {
  if (failure.kind !== 'refused' || (failure.status !== 400 && failure.status !== 422)) return undefined;
  const { fields, words: said = '' } = failure;
  const problems = fields.map(({ field, detail }) => ({ field, detail, input: field && textOf(field, given) }));
  if (problems.every(({ input }) => input === undefined)) return undefined;
  const sentences = problems
    .slice(0, maxShown)
    .map(({ field, detail, input }) => `${input ?? (field === undefined ? '' : `${field}:`)} ${sentence(detail)}`);
  const more = fields.length - sentences.length;
  // Our service repeats the first problem in this text.
  const before = said === '' || fields.some(({ detail }) => said.includes(detail)) ? [] : [sentence(said)];
  return withRequest([...before, ...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' '), request);
}

const sentence = (text: RefusedField['detail']): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** The inputs behind the fields of a request. */
const inputsOf: Partial<Record<OperationName, Readonly<Record<string, InputName>>>> = {
  sync: { branch: 'branch' },
  lock: { type: 'type', ttl: 'ttl', path: 'path' },
  unlock: { path: 'path' },
  'list-locks': { path: 'path' },
  'register-hook': { url: 'hook-url', secret: 'hook-secret', events: 'hook-events' },
};

/** Shows the input behind a field of the request, such as `branch` or `events/0`, and its value. */
function textOf(field: string, { raw, task }: GivenInputs): string | undefined {
  const [name = ''] = field.split('/');
  const input = inputsOf[task.operation]?.[name];
  if (input === 'hook-url') return `Input \`hook-url\` is ${quoted(receiver(raw['hook-url']))}.`;
  const text = input === 'branch' ? (task.branch ?? raw.branch) : input && raw[input];
  if (input !== undefined && text) return inputText(input, text);
  return task.operation === 'register-hook' ? optionText(name, raw['hook-options']) : undefined;
}

/** The path and query of a webhook URL often contain its secret. */
function receiver(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

/** Without its value, which may be a secret. */
function optionText(name: string, text: string): string | undefined {
  const options = parseJsonObject(text);
  if (!options.ok || !Object.hasOwn(options.value, name)) return undefined;
  return `Input \`hook-options\` has a member ${quoted(name)} that is not valid.`;
}
