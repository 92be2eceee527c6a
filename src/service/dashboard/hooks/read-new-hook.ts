import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import type { FieldError } from '../../../interface/problem.ts';
import { Refusal } from '../../contract/problem.ts';
import { parseRequestPart } from '../../contract/validate.ts';
import type { HookRequest } from '../../webhooks/registration.ts';
import { hookRequestSchema } from '../../webhooks/registration.ts';
import { parseTarget } from '../../webhooks/target.ts';
import type { Form } from '../access/form.ts';

export const fields = ['url', 'events', 'branches', 'format', 'secret', 'headers'] as const;

export type Field = (typeof fields)[number];

/** A sentence for each field that is wrong. */
export type Problems = Partial<Readonly<Record<Field, string>>>;

/** What the form has, as it was typed and chosen. */
export interface Typed {
  readonly url: string;
  readonly events: readonly string[];
  /** One a line. */
  readonly branches: string;
  readonly format: string;
  readonly secret: string;
  /** `name: value`, one a line. */
  readonly headers: string;
}

export const untouched: Typed = {
  url: '',
  events: ['sync.succeeded'],
  branches: '',
  format: 'standard',
  secret: '',
  headers: '',
};

export const typedIn = (form: Form): Typed => ({
  url: form.text('url'),
  events: form.all('event'),
  branches: form.text('branches'),
  format: form.text('format'),
  secret: form.text('secret'),
  headers: form.text('headers'),
});

export type Reading =
  | { readonly kind: 'request'; readonly request: HookRequest }
  | { readonly kind: 'wrong'; readonly problems: Problems };

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** A name that is given twice, once in capitals, is found by whoever reads what this gives. */
function readHeaders(text: string): Parsed<Readonly<Record<string, string>>> {
  const headers = new Map<string, string>();
  for (const [index, line] of linesOf(text).entries()) {
    const colon = line.indexOf(':');
    if (colon === -1) {
      return refused(`Header ${index + 1} has no colon. Write each as "name: value", on a line of its own.`);
    }
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).replace(/^ +/, '');
    if (headers.has(name)) return refused(`Header ${index + 1} has the same name as one before it.`);
    headers.set(name, value);
  }
  return accepted(Object.fromEntries(headers));
}

const isField = (text: string): text is Field => fields.some((field) => field === text);

/** Where the field has several entries, which of them is meant. */
function sentence(field: Field, index: string | undefined, detail: string): string {
  if (field === 'branches' && index !== undefined) return `Branch ${Number(index) + 1}: ${detail}`;
  return detail;
}

/** The mistakes that a program would be told, each for its field of the form; undefined when one has none. */
export function problemsOf(errors: readonly FieldError[]): Problems | undefined {
  const problems = new Map<Field, string>();
  for (const { pointer, detail } of errors) {
    const [, name = '', index] = pointer.split('/');
    if (!isField(name)) return undefined;
    if (!problems.has(name)) problems.set(name, sentence(name, index, detail));
  }
  return Object.fromEntries(problems);
}

export function problemsIn(error: unknown): Problems {
  const problems = error instanceof Refusal ? problemsOf(error.extras.errors ?? []) : undefined;
  if (problems === undefined || Object.keys(problems).length === 0) throw error;
  return problems;
}

const asProgramsSendIt = (typed: Typed, headers: Parsed<Readonly<Record<string, string>>>): unknown => {
  const branches = linesOf(typed.branches).map((line) => line.trim());
  return {
    url: typed.url,
    events: [...new Set(typed.events)],
    branches: branches.length === 0 ? null : branches,
    format: typed.format,
    ...(typed.secret !== '' && { secret: typed.secret }),
    ...(headers.ok && { headers: headers.value }),
  };
};

function bySchema(body: unknown): Reading {
  try {
    return { kind: 'request', request: parseRequestPart(hookRequestSchema, () => body) };
  } catch (error) {
    return { kind: 'wrong', problems: problemsIn(error) };
  }
}

/** By the schema of the API, and all that is wrong at once. */
export function readNewHook(typed: Typed): Reading {
  const headers = readHeaders(typed.headers);
  const target = parseTarget(typed.url);
  const reading = bySchema(asProgramsSendIt(typed, headers));
  const problems: Problems = {
    ...(!target.ok && { url: target.why }),
    ...(!headers.ok && { headers: headers.why }),
    ...(reading.kind === 'wrong' && reading.problems),
    // The API's sentence is about a field that can be left out.
    ...(typed.events.length === 0 && { events: 'Choose at least one event.' }),
  };
  return Object.keys(problems).length === 0 ? reading : { kind: 'wrong', problems };
}
