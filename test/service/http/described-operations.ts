import { z } from '@hono/zod-openapi';
import { expect } from 'vitest';
import type { Api } from '../../../src/service/api/operation.ts';
import type { Reply } from '../../support/running-service.ts';
import type { Answered } from './expect-problem.ts';

const headerSchema = z.object({ required: z.boolean() });

const responseSchema = z.object({
  description: z.string().min(1),
  headers: z.record(z.string(), z.union([headerSchema, z.object({ $ref: z.string() })])),
  content: z.record(z.string(), z.object({ schema: z.instanceof(z.ZodType) })).optional(),
});

/** What can be the answer to any request at all; the document has it under `default`. */
const anyRequest = new Set(['400', '405', '408', '431', '500', '503']);

function responsesOf(api: Api, method: string, path: string) {
  const route = api.openAPIRegistry.definitions
    .flatMap((definition) => (definition.type === 'route' ? [definition.route] : []))
    .find((candidate) => candidate.method.toUpperCase() === method && candidate.path === path);
  return z.record(z.string(), responseSchema).parse(route?.responses);
}

/** What the document says of this status of this operation. */
function describedResponse(api: Api, method: string, path: string, status: number) {
  const responses = responsesOf(api, method, path);
  const response = responses[status] ?? (anyRequest.has(String(status)) ? responses['default'] : undefined);
  if (response === undefined) throw new Error(`${method} ${path} does not describe the status ${status}.`);
  return response;
}

/** The schema that the document is made from, for this status of this operation; undefined for an empty body. */
function describedSchema(api: Api, method: string, path: string, { status, headers }: Answered) {
  const response = describedResponse(api, method, path, status);
  if (response.content === undefined) return undefined;
  const type = headers.get('content-type')?.replace(/;.*$/, '') ?? 'no type';
  const content = response.content[type];
  if (content === undefined) throw new Error(`${method} ${path} does not describe ${type} for the status ${status}.`);
  return content.schema;
}

/** That the answer is one that the document describes, with no member that it does not describe. */
export function expectDescribed(api: Api, method: string, path: string, answer: Answered): void {
  const schema = describedSchema(api, method, path, answer);
  if (schema === undefined) {
    expect(answer.text).toBe('');
    return;
  }
  const content = answer.body ?? answer.text;
  // Parsing leaves out what is not described.
  expect(schema.parse(content)).toEqual(content);
}

/** Of HTTP itself and of the connection, and the type, which OpenAPI has as the key of `content`. */
const ofHttp = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** The headers that the document names for this status of this operation, and whether every answer has them. */
function describedHeaders(api: Api, method: string, path: string, status: number) {
  const { headers } = describedResponse(api, method, path, status);
  const components = api.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === 'component' && definition.componentType === 'headers' ? [definition] : [],
  );
  return Object.entries(headers).map(([name, header]) => {
    const named = '$ref' in header ? header.$ref.replace('#/components/headers/', '') : undefined;
    const { required } =
      'required' in header ? header : headerSchema.parse(components.find((found) => found.name === named)?.component);
    return { name, required };
  });
}

/** That the answer has every header that the document says it has, and none that it does not name. */
export function expectDescribedHeaders(api: Api, method: string, path: string, { status, headers }: Reply): void {
  const described = describedHeaders(api, method, path, status);
  const names = described.map(({ name }) => name.toLowerCase());
  const required = described.filter((header) => header.required).map(({ name }) => name.toLowerCase());
  const sent = [...headers.keys()].filter((name) => !ofHttp.has(name));
  expect(names, `the headers of ${method} ${path} with ${status}`).toEqual(expect.arrayContaining(sent));
  expect(sent).toEqual(expect.arrayContaining(required));
}

/** The headers that the document names for the status and that only some answers have. */
export const optionalHeaders = (api: Api, method: string, path: string, status: number): string[] =>
  describedHeaders(api, method, path, status)
    .filter(({ required }) => !required)
    .map(({ name }) => name);

/** The statuses that the document names for the operation. */
export function describedStatuses(api: Api, method: string, path: string): number[] {
  return Object.keys(responsesOf(api, method, path))
    .filter((status) => status !== 'default')
    .map(Number);
}
