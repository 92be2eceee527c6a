import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathMess } from '../../interface/texts.ts';
import type { Reply } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { describedApi } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { expectedOperations, requiredQuery } from './operations.ts';
import { sharedService } from './shared-service.ts';

type Limit = 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'minItems' | 'maxItems' | 'maxProperties';

/** The keywords of a schema that limit a string, a list or a number. */
type FieldSchema = { readonly [limit in Limit]?: number } & { readonly [word in 'format' | 'pattern']?: string } & {
  readonly [part in 'items' | 'propertyNames' | 'additionalProperties']?: FieldSchema;
} & { readonly enum?: readonly string[]; readonly not?: { readonly pattern: string }; readonly example?: unknown };

interface Field {
  readonly operationId: string;
  readonly in: 'body' | 'query' | 'header' | 'path';
  readonly name: string;
  readonly required: boolean;
  readonly schema: FieldSchema;
}

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly Omit<Field, 'operationId'>[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: { $ref: string } } } };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly object[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<
      Record<string, { properties?: Readonly<Record<string, FieldSchema>>; required?: readonly string[] }>
    >;
  };
}

const described = describedApi().getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Limits', version: '0' } });
const { paths, components }: OpenApi = JSON.parse(JSON.stringify(described));
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.values(methods).map(({ parameters = [], ...operation }) => ({ path, parameters, ...operation })),
);

/** Every part of a request that the document has a schema for. */
const fields = operations.flatMap(({ operationId, parameters, requestBody }): Field[] => {
  const name = requestBody?.content['application/json']?.schema.$ref.split('/').at(-1) ?? '';
  const { properties = {}, required = [] } = components.schemas[name] ?? {};
  const inBody = Object.entries(properties).map(([name, schema]) => {
    return { in: 'body' as const, name, required: required.includes(name), schema };
  });
  return [...parameters, ...inBody].map((field) => ({ operationId, ...field }));
});

const titled = (some: readonly Field[]): [title: string, field: Field][] =>
  some.map((field) => [`${field.name} in the ${field.in} of ${field.operationId}`, field]);

function allows({ pattern, not, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: FieldSchema, text: string) {
  const length = [...text].length;
  return (
    length >= minLength &&
    length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
    (not === undefined || !new RegExp(not.pattern, 'u').test(text))
  );
}

/** For each limit of the schema, a value that just keeps it, and one just beyond it. */
function limitsOf(name: string, schema: FieldSchema): [limit: string, within: unknown, beyond: unknown][] {
  const { items, propertyNames, additionalProperties } = schema;
  const text = (length: number) => (name === 'url' ? 'https://ci.example.com/' : '').padEnd(length, 'a');
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'a']));
  const list = (count: number) =>
    Array.from({ length: count }, (_, n) => items?.enum?.[n] ?? items?.enum?.[0] ?? `a${n}`);
  const limits: [limit: string, value: number | undefined, step: number, make: (limit: number) => unknown][] = [
    ['minLength', schema.minLength, -1, text],
    ['maxLength', schema.maxLength, 1, text],
    ['minimum', schema.minimum, -1, (number) => number],
    ['maximum', schema.maximum, 1, (number) => number],
    ['minItems', schema.minItems, -1, list],
    ['maxItems', schema.maxItems, 1, list],
    ['maxProperties', schema.maxProperties, 1, headers],
    ['propertyNames', propertyNames?.maxLength, 1, (length) => ({ [text(length)]: 'a' })],
    ['additionalProperties', additionalProperties?.maxLength, 1, (length) => ({ 'x-a': text(length) })],
    ['items', items?.maxLength, 1, (length) => [text(length)]],
  ];
  return limits.flatMap(([limit, value, step, make]): [string, unknown, unknown][] =>
    value === undefined ? [] : [[limit, make(value), make(value + step)]],
  );
}

/** These headers are never rejected for their form: invalid values are ignored, or match no lock. */
const limited = fields.filter(({ name }) => !['Prefer', 'Priority', 'If-Match', 'Referer'].includes(name));

/** The list of operations is tested in access.test.ts, and responses in openapi-responses.test.ts. */
describe('the OpenAPI document', () => {
  const service = sharedService();

  /** Sends a request that is valid except possibly for this field. */
  function send({ operationId, in: place, name }: Field, value: unknown): Promise<Reply> {
    const operation = expectedOperations.find((expected) => expected.operationId === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
    const { method, path, body } = operation;
    const inPath: Readonly<Record<string, string>> = {
      id: service.home,
      path: 'free',
      lease: randomUUID(),
      sync_id: 'sync_1',
      forge: 'github',
    };
    const address = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
      encodeURIComponent(place === 'path' && parameter === name ? String(value) : (inPath[parameter] ?? '')),
    );
    const needed = name === 'reason' ? 'force=true&' : '';
    const query =
      place === 'query' ? `?${needed}${name}=${encodeURIComponent(String(value))}` : requiredQuery(operation);
    const free = operationId === 'acquireLock' ? { path: randomUUID() } : {};
    // Properties are for a pool.
    const ofPool = place === 'body' && name === 'where' ? { paths: undefined, pool: 'seats' } : {};
    const json = body && { ...body, ...free, ...ofPool, ...(place === 'body' && { [name]: value }) };
    const headers = place === 'header' ? { [name]: String(value) } : {};
    return service.ask(method, address + query, { token: service.secret, headers, json });
  }

  const fieldsRefusedBy = ({ body, status }: Reply): string[] =>
    status === 422 ? (body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer.split('/')[1]) : [];

  test('is what the service returns, and refers to each of its components and no others', async () => {
    const { body, headers } = await service.ask('GET', '/v1/openapi.json');
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toMatchObject({ openapi: '3.1.0', paths, components });
    const references = JSON.stringify(body).matchAll(/"#\/components\/schemas\/([\w-]+)"/g);
    expect(new Set([...references].map(([, name]) => name))).toEqual(new Set(Object.keys(components.schemas)));
    const schemes = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys));
    expect([...new Set(schemes)]).toEqual(Object.keys(components.securitySchemes));
  });

  test('describes exactly the parameters of each path, and a default response', () => {
    for (const { path, parameters, responses } of operations) {
      const inPath = parameters.flatMap((parameter) => (parameter.in === 'path' ? [`{${parameter.name}}`] : []));
      expect(inPath.sort()).toEqual((path.match(/\{\w+\}/g) ?? []).sort());
      expect(Object.keys(responses)).toContain('default');
    }
  });

  test('explains the operations that need it', () => {
    const texts = operations.map(({ operationId, description }) => [operationId, description]);
    expect(Object.fromEntries(texts)).toMatchObject({
      askForLock: expect.stringContaining('keeps a place in line'),
      listLocks: undefined,
    });
  });

  test('lists the types of problems', () => {
    const { enum: types = [] } = components.schemas['Problem']?.properties?.['type'] ?? {};
    expect(types).toContain('urn:workspace-automation:problem:lease-ended');
  });

  test('has a limit, a pattern or an enum for each field', () => {
    const unlimited = fields.filter(({ schema, name }) => {
      const { enum: values, pattern, maxLength, maximum, maxItems, maxProperties } = schema;
      const limit = values ?? pattern ?? maxLength ?? maximum ?? maxItems ?? maxProperties;
      return name !== 'If-Match' && limit === undefined;
    });
    expect(titled(unlimited).map(([title]) => title)).toEqual([]);
  });

  test.each(titled(limited))(
    'has limits; values that just keep them are valid, and others not: %s',
    async (_, field) => {
      for (const [limit, within, beyond] of limitsOf(field.name, field.schema)) {
        // Only the service itself creates a cursor, and the request of a lock is for one path.
        const texts = [within].flat().filter((part) => typeof part === 'string');
        const isPlain = texts.every((text) => allows(field.schema.items ?? field.schema, text));
        if (isPlain && !['cursor', 'count'].includes(field.name))
          expect(fieldsRefusedBy(await send(field, within)), limit).not.toContain(field.name);
        // A URL with an empty segment here belongs to another route.
        if (field.in === 'path' && beyond === '') continue;
        const response = await send(field, beyond);
        // An invalid name gets 404, like an unknown one.
        if (field.in === 'path' && field.name !== 'path') {
          expectProblem(response, 'not-found');
        } else {
          expectProblem(response, 'invalid-request');
          expect(fieldsRefusedBy(response), limit).toEqual([field.name]);
        }
      }
    },
  );

  const shaped = limited.filter((field) => ['body', 'query'].includes(field.in));
  test.each(titled(shaped.filter(({ schema: { pattern, not } }) => (pattern ?? not) !== undefined)))(
    'has patterns, and values that they do not allow are rejected: %s',
    async (_title, field) => {
      const texts = fc
        .oneof(pathMess, fc.string())
        .filter((text) => text.isWellFormed() && !allows(field.schema, text));
      const property = fc.asyncProperty(texts, async (text) => {
        const response = await send(field, text);
        expectProblem(response, 'invalid-request');
        expect(fieldsRefusedBy(response)).toEqual([field.name]);
      });
      await fc.assert(property, { numRuns: runs(20, 200) });
    },
  );
});
