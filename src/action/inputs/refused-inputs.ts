import { asSentence, ServiceError, withRequest } from '../../client/service-error.ts';
import { errorText } from '../report/error-text.ts';
import { parseJsonObject, receiverOf, splitLines, splitList } from './parse.ts';
import { inputText, quoted, truncated } from './reader.ts';
import type { OperationName, RawInputs } from './table.ts';

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

const maxListed = 5;

/** Undefined if the error is not about an input. */
function refusalText({ failure, request }: ServiceError, given: GivenInputs): string | undefined {
  if (failure.kind !== 'refused' || (failure.status !== 400 && failure.status !== 422)) return undefined;
  const { fields, message = '' } = failure;
  const problems = fields.map(({ field, detail }) => ({ field, detail, input: field && textOf(field, given) }));
  if (problems.every(({ input }) => input === undefined)) return undefined;
  const sentences = problems
    .slice(0, maxListed)
    .map(({ field, detail, input }) => `${input ?? (field === undefined ? '' : `${field}:`)} ${asSentence(detail)}`);
  const more = fields.length - sentences.length;
  // Our service repeats the first problem in this text.
  const before = message === '' || fields.some(({ detail }) => message.includes(detail)) ? [] : [asSentence(message)];
  return withRequest([...before, ...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' '), request);
}

/** Shows the input behind a field of the request, such as `branch` or `events/0`, and its value. */
function textOf(field: string, { raw, task }: GivenInputs): string | undefined {
  switch (task.operation) {
    case 'sync':
      return field === 'branch' ? inputText('branch', task.branch ?? raw.branch) : undefined;
    case 'lock':
      if (field === 'type' || field === 'ttl') return inputText(field, raw[field]);
      return field === 'path' ? pathText(raw.path) : undefined;
    case 'unlock':
    case 'list-locks':
      return field === 'path' && raw.path !== '' ? pathText(raw.path) : undefined;
    case 'register-hook':
      return hookText(field, raw);
    case 'check':
    case 'list-workspaces':
    case 'list-branches':
      return undefined;
  }
}

/** The path is shown if it is the only one: the error does not say which path was refused. */
const pathText = (text: string): string =>
  splitLines(text).length === 1 ? inputText('path', text) : 'Input `path` has a line that the service refuses.';

function hookText(field: string, raw: RawInputs): string | undefined {
  const [name = '', index = ''] = field.split('/');
  if (name === 'url') {
    const { origin, isOriginOnly } = receiverOf(raw['hook-url']);
    return `Input \`hook-url\` is ${quoted(isOriginOnly ? origin : `${origin}/…`)}.`;
  }
  if (name === 'secret' && raw['hook-secret'] !== '') return inputText('hook-secret', raw['hook-secret']);
  if (name === 'events' && raw['hook-events'] !== '') {
    const event = /^\d+$/.test(index) ? splitList(raw['hook-events'])[Number(index)] : undefined;
    return event === undefined
      ? inputText('hook-events', raw['hook-events'])
      : `Input \`hook-events\` has ${quoted(event)}.`;
  }
  return optionText(name, raw['hook-options']);
}

/** Options whose values are shown. Any other option may contain a secret. */
const plainOptions: ReadonlySet<string> = new Set(['format', 'events', 'branches']);

function optionText(name: string, text: string): string | undefined {
  const options = parseJsonObject(text);
  if (!options.ok || !Object.hasOwn(options.value, name)) return undefined;
  return plainOptions.has(name)
    ? `Input \`hook-options\` has ${quoted(name)}: ${truncated(JSON.stringify(options.value[name]))}.`
    : `Input \`hook-options\` has a member ${quoted(name)} that is not valid.`;
}
