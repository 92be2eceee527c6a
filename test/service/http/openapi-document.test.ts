import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { openApiDocument } from './openapi-rules.ts';

/** The endpoints of the interface as it was given. */
const given = [
  'GET /workspaces',
  'GET /workspaces/:id/branches',
  'POST /workspaces/:id/sync',
  'GET /workspaces/:id/locks',
  'POST /workspaces/:id/locks',
  'DELETE /workspaces/:id/locks/:path',
  'POST /workspaces/:id/hooks',
];

describe.each(anyDatabase)('the OpenAPI document', (kind) => {
  let service: RunningService;
  let document: z.output<typeof openApiDocument>;

  beforeAll(async () => {
    service = await startTestService(kind);
    const { status, headers, body } = await service.ask('GET', '/v1/openapi.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    document = openApiDocument.parse(body);
  });
  afterAll(() => service.stop());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );

  test('has every endpoint of the interface', () => {
    const described = operations().map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replace(/^\/v1/, '').replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    expect(described).toEqual(expect.arrayContaining(given));
  });

  test('gives each operation a name of its own', () => {
    const names = operations().map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  test('describes every parameter of a path, and no other', () => {
    for (const { path, parameters = [] } of operations()) {
      const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = parameters.flatMap((parameter) => (parameter.in === 'path' ? [parameter.name] : []));
      expect(described.sort()).toEqual(inTemplate.sort());
    }
  });

  test('has all that it refers to, and refers to all that it has', () => {
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(referred)].sort()).toEqual(Object.keys(document.components.schemas).sort());
    const headers = [...JSON.stringify(document).matchAll(/"#\/components\/headers\/([\w-]+)"/g)].map(
      ([, name]) => name,
    );
    expect([...new Set(headers)].sort()).toEqual(Object.keys(document.components.headers).sort());
    const schemes = operations().flatMap(({ security }) => security.flatMap((scheme) => Object.keys(scheme)));
    expect([...new Set(schemes)]).toEqual(Object.keys(document.components.securitySchemes));
  });

  test('tells of a success and of what can go wrong, problems as problems', () => {
    for (const { responses, requestBody, method } of operations()) {
      const statuses = Object.keys(responses);
      expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
      expect(statuses).toContain('default');
      expect(requestBody !== undefined).toBe(method === 'post');
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (!status.startsWith('2')) expect(Object.keys(content)).toEqual(['application/problem+json']);
      }
    }
  });

  test('tells how to wait for a path, and what a token that sends too much is told', () => {
    const named = (id: string) => operations().find(({ operationId }) => operationId === id);
    const list = named('listLocks');
    expect(list?.parameters?.find(({ name }) => name === 'Prefer')?.description).toContain('wait=N');
    expect(Object.keys(list?.responses['200']?.headers ?? {})).toContain('Preference-Applied');
    expect(named('releaseLock')?.description).toContain('never refused with 429');
    for (const { responses } of operations().filter(({ responses: described }) => '429' in described)) {
      const headers = Object.keys(responses['429']?.headers ?? {});
      expect(headers).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit-Policy', 'RateLimit']));
    }
  });

  test('has examples that work', async () => {
    const { LockRequest } = document.components.schemas;
    const properties = LockRequest !== undefined && 'properties' in LockRequest ? (LockRequest.properties ?? {}) : {};
    const body = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        '$ref' in property ? undefined : (property.example ?? property.enum?.[0]),
      ]),
    );
    const [{ secret: token }, workspace] = [await service.token(), await service.workspace()];
    const { status } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json: body });
    expect(status).toBe(201);
  });
});
