import { z } from '@hono/zod-openapi';
import { expect } from 'vitest';
import type { Reply } from '../../support/running-service.ts';
import { describedApi } from './described-app.ts';

const { definitions } = describedApi().openAPIRegistry;
const routes = definitions.flatMap((definition) => (definition.type === 'route' ? [definition.route] : []));

/** Expects a response that the document describes, if it has the operation. Returns the response. */
export function asDescribed(method: string, target: string, response: Reply): Reply {
  const [address = ''] = target.split('?');
  const operation = routes.find(
    (route) => route.method.toUpperCase() === method && patternOf(route.path).test(address),
  );
  if (operation !== undefined) expectDescribed(method, operation.path, response);
  return response;
}

/** The path of a lock may have slashes. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace('{path}', '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`);

const responseSchema = z.object({
  description: z.string().min(1),
  content: z.record(z.string(), z.object({ schema: z.instanceof(z.ZodType) })).optional(),
});

/** The response that the document describes for this status of the operation. */
function describedResponse(method: string, path: string, status: number) {
  const route = routes.find((candidate) => candidate.method.toUpperCase() === method && candidate.path === path);
  const responses = z.record(z.string(), responseSchema).parse(route?.responses);
  const response = responses[status] ?? (status >= 400 ? responses['default'] : undefined);
  if (response === undefined) throw new Error(`${method} ${path} does not describe the status ${status}.`);
  return response;
}

/** Expects a response that the document describes, without other members. */
export function expectDescribed(method: string, path: string, { status, headers, text, body }: Reply): void {
  const asked = `${method} ${path} with ${status}`;
  const { content } = describedResponse(method, path, status);
  if (content === undefined) {
    expect(text, asked).toBe('');
    return;
  }
  const type = headers.get('content-type')?.replace(/;.*$/, '') ?? 'no type';
  const answered = body ?? text;
  // Parsing drops members that are not described.
  expect(content[type]?.schema.parse(answered), `${type} of ${asked}`).toEqual(answered);
}
