import { z } from '@hono/zod-openapi';
import { expect } from 'vitest';
import type { App } from '../../../src/service/http/operation.ts';
import type { Answered } from './expect-problem.ts';

const responseSchema = z.object({
  description: z.string().min(1),
  content: z.record(z.string(), z.object({ schema: z.instanceof(z.ZodType) })).optional(),
});

/** What can be the answer to any request at all; the document has it under `default`. */
const anyRequest = new Set(['400', '408', '431', '500', '503']);

function responsesOf(app: App, method: string, path: string) {
  const route = app.openAPIRegistry.definitions
    .flatMap((definition) => (definition.type === 'route' ? [definition.route] : []))
    .find((candidate) => candidate.method.toUpperCase() === method && candidate.path === path);
  return z.record(z.string(), responseSchema).parse(route?.responses);
}

/** The schema that the document is made from, for this status of this operation; undefined for an empty body. */
function describedSchema(app: App, method: string, path: string, { status, headers }: Answered) {
  const responses = responsesOf(app, method, path);
  const response = responses[status] ?? (anyRequest.has(String(status)) ? responses['default'] : undefined);
  if (response === undefined) throw new Error(`${method} ${path} does not describe the status ${status}.`);
  if (response.content === undefined) return undefined;
  const type = headers.get('content-type')?.replace(/;.*$/, '') ?? 'no type';
  const content = response.content[type];
  if (content === undefined) throw new Error(`${method} ${path} does not describe ${type} for the status ${status}.`);
  return content.schema;
}

/** That the answer is one that the document describes, with no member that it does not describe. */
export function expectDescribed(app: App, method: string, path: string, answer: Answered): void {
  const schema = describedSchema(app, method, path, answer);
  if (schema === undefined) {
    expect(answer.text).toBe('');
    return;
  }
  const content = answer.body ?? answer.text;
  // Parsing leaves out what is not described.
  expect(schema.parse(content)).toEqual(content);
}

/** The statuses that the document names for the operation. */
export function describedStatuses(app: App, method: string, path: string): number[] {
  return Object.keys(responsesOf(app, method, path))
    .filter((status) => status !== 'default')
    .map(Number);
}
