import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/interface/duration.ts';
import { maxTtl } from '../../../src/interface/ttl.ts';
import { pathMess } from '../../interface/texts.ts';
import { sqlite } from '../../support/databases.ts';
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
  readonly parameters?: readonly Omit<Field, 'operationId'>[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: { $ref: string } } } };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly object[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: object;
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

/** Rules in the descriptions that JSON Schema cannot express. */
const asDescribed: Readonly<Record<string, (text: string) => boolean>> = {
  // The request has one path.
  count: (count) => Number(count) <= 1,
  path: (path) => Buffer.byteLength(path.normalize('NFC')) <= 1_024,
  prefix: (prefix) => Buffer.byteLength(prefix) <= 1_024,
  owner: (owner) => Buffer.byteLength(owner) <= 1_024,
  branch: (branch) => Buffer.byteLength(branch) <= 255,
  'Lock-Branch': (branch) => Buffer.byteLength(branch) <= 255,
  ttl(ttl) {
    const duration = parseDuration(ttl);
    return duration.ok && duration.value.seconds >= 1 && duration.value.seconds <= maxTtl.seconds;
  },
  url: (url) => url.startsWith('https:') && !url.includes('#'),
};

function allows({ pattern, not, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: FieldSchema, text: string) {
  const length = [...text].length;
  return (
    length >= minLength &&
    length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
    (not === undefined || !new RegExp(not.pattern, 'u').test(text))
  );
}

function textsOf(schema: FieldSchema): fc.Arbitrary<string> {
  const { enum: values, format, pattern, maxLength = 100 } = schema;
  if (values !== undefined) return fc.constantFrom(...values);
  if (format === 'uri') return fc.webUrl();
  const some =
    pattern === undefined ? fc.string({ unit: 'binary', maxLength }) : fc.stringMatching(new RegExp(pattern));
  const longest = fc.constantFrom('a', 'ab/', '~', 'ü', '1').map((unit) => unit.repeat(maxLength).slice(0, maxLength));
  return fc
    .oneof({ weight: 4, arbitrary: some }, { weight: 1, arbitrary: longest })
    .filter((text) => allows(schema, text));
}

/** Reserved for the delivery, as the description says. */
const reserved =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|__proto__|(?:webhook|content|proxy)-.*)$/i;

/** Values that the schema of the field allows. */
function valuesOf(name: string, schema: FieldSchema): fc.Arbitrary<unknown> {
  const { items, additionalProperties, propertyNames = {}, minimum = 0, maximum, maxProperties = 5 } = schema;
  if (items !== undefined) {
    const { minItems = 0, maxItems = 5 } = schema;
    const item = valuesOf({ branches: 'branch', paths: 'path' }[name] ?? name, items);
    return fc.uniqueArray(item, { minLength: minItems, maxLength: maxItems });
  }
  if (additionalProperties !== undefined) {
    // Names that differ only in case are the same, as the description says.
    const selector = ([header]: [string, string]) => header.toLowerCase();
    const header = fc.tuple(textsOf(propertyNames), textsOf(additionalProperties));
    return fc
      .uniqueArray(header, { maxLength: maxProperties, selector })
      .map((entries) => Object.fromEntries(entries.filter(([name]) => !reserved.test(name))));
  }
  if (maximum !== undefined) {
    const isAsDescribed = asDescribed[name] ?? (() => true);
    return fc
      .oneof(fc.constant(minimum), fc.integer({ min: minimum, max: maximum }))
      .filter((value) => isAsDescribed(String(value)));
  }
  return textsOf(schema).filter(asDescribed[name] ?? (() => true));
}

/** A value just beyond each limit of the schema. */
function beyond(name: string, schema: FieldSchema): [limit: string, value: unknown][] {
  const { items, propertyNames, additionalProperties } = schema;
  const text = (length: number) => (name === 'url' ? 'https://ci.example.com/' : '').padEnd(length, 'a');
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'a']));
  const limits: [limit: string, value: number | undefined, beyond: (limit: number) => unknown][] = [
    ['minLength', schema.minLength, () => ''],
    ['maxLength', schema.maxLength, (max) => text(max + 1)],
    ['minimum', schema.minimum, (min) => min - 1],
    ['maximum', schema.maximum, (max) => max + 1],
    ['minItems', schema.minItems, () => []],
    ['maxItems', schema.maxItems, (max) => Array(max + 1).fill(items?.enum?.[0] ?? 'main')],
    ['maxProperties', schema.maxProperties, (max) => headers(max + 1)],
    ['propertyNames', propertyNames?.maxLength, (max) => ({ [text(max + 1)]: 'a' })],
    ['additionalProperties', additionalProperties?.maxLength, (max) => ({ 'x-a': text(max + 1) })],
    ['items', items?.maxLength, (max) => [text(max + 1)]],
  ];
  return limits.flatMap(([limit, value, make]): [string, unknown][] =>
    value === undefined ? [] : [[limit, make(value)]],
  );
}

/** These headers are never rejected for their form: invalid values are ignored, or match no lock. */
const limited = fields.filter(({ name }) => !['Prefer', 'Priority', 'If-Match', 'Referer'].includes(name));

/** The list of operations is tested in access.test.ts, and responses in openapi-responses.test.ts. */
describe('the OpenAPI document', () => {
  const resolve = () => Promise.reject(new Error('No name resolves here.'));
  const service = sharedService(sqlite, { resolve });

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
    const references = JSON.stringify(body).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g);
    const kinds = ['headers', 'schemas'] as const;
    const known = kinds.flatMap((kind) => Object.keys(components[kind]).map((name) => `${kind} ${name}`));
    expect(new Set([...references].map(([, kind, name]) => `${kind} ${name}`))).toEqual(new Set(known));
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

  test('uses only portable patterns, without look-around and named classes (JSON Schema, section 6.4)', () => {
    for (const [pattern] of JSON.stringify(described).matchAll(/(?<="pattern":)"(?:[^"\\]|\\.)*"/g)) {
      expect(new RegExp(JSON.parse(pattern), 'u').source).not.toMatch(/\(\?[^:]|\\[pPk\d]/);
    }
  });

  test('has an example of a lock that can be acquired', async () => {
    const properties = Object.entries(components.schemas['LockRequest']?.properties ?? {});
    const json = Object.fromEntries(properties.map(([name, schema]) => [name, schema.example ?? schema.enum?.[0]]));
    const address = `/v1/workspaces/${service.home}/locks`;
    expect((await service.ask('POST', address, { token: service.secret, json })).status).toBe(201);
  });

  test('has a limit, a pattern or an enum for each field', () => {
    const unlimited = fields.filter(({ schema, name }) => {
      const { enum: values, pattern, maxLength, maximum, maxItems, maxProperties } = schema;
      const limit = values ?? pattern ?? maxLength ?? maximum ?? maxItems ?? maxProperties;
      return name !== 'If-Match' && limit === undefined;
    });
    expect(titled(unlimited).map(([title]) => title)).toEqual([]);
  });

  // Only the service itself can create a cursor.
  test.each(titled(fields.filter(({ name }) => name !== 'cursor')))(
    'allows only values that the service accepts: %s',
    async (_title, field) => {
      // The schema does not exclude characters that a header cannot contain at all.
      const schema = field.in === 'header' ? { pattern: '^[\\x20-\\x7e]*$', ...field.schema } : field.schema;
      const property = fc.asyncProperty(valuesOf(field.name, schema), async (value) => {
        const response = await send(field, value);
        expect(response.status).not.toBe(400);
        expect(fieldsRefusedBy(response)).not.toContain(field.name);
      });
      await fc.assert(property, { numRuns: runs(6, 100) });
    },
  );

  test.each(titled(limited))('has limits, and values just beyond them are rejected: %s', async (_title, field) => {
    for (const [limit, value] of beyond(field.name, field.schema)) {
      // A URL with an empty segment here belongs to another route.
      if (field.in === 'path' && value === '') continue;
      const response = await send(field, value);
      // An invalid name gets 404, like an unknown one.
      if (field.in === 'path' && field.name !== 'path') {
        expectProblem(response, 'not-found');
      } else {
        expectProblem(response, 'invalid-request');
        expect(fieldsRefusedBy(response), limit).toEqual([field.name]);
      }
    }
  });

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

  test('does not require fields that have a default or are optional', () => {
    const optional = fields.filter(({ required }) => !required).map((field) => `${field.in} ${field.name}`);
    expect([...new Set(optional)].sort().join(', ')).toBe(
      'body branch, body branches, body count, body events, body format, body headers, body note, body paths, body pool, ' +
        'body secret, body versions, body where, header Idempotency-Key, header If-Match, header Lock-Branch, header Prefer, header Priority, header Referer, query cursor, query force, query limit, ' +
        'query owner, query path, query prefix, query reason',
    );
  });
});
