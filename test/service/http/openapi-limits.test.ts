import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/interface/duration.ts';
import { maxTtl } from '../../../src/interface/ttl.ts';
import { pathMess } from '../../interface/texts.ts';
import { type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { anyDatabase } from './any-database.ts';
import { describedApi } from './described-app.ts';
import { type DescribedField, describedFields, type FieldSchema } from './described-fields.ts';
import { expectProblem } from './expect-problem.ts';
import { openApiDocument } from './openapi-rules.ts';
import { expectedOperations } from './operations.ts';

const document = describedApi().getOpenAPI31Document({
  openapi: '3.1.0',
  info: { title: 'Limits', version: '0', description: 'Limits', license: { name: 'MIT' } },
  servers: [{ url: '/' }],
});
const fields = describedFields(openApiDocument.parse(JSON.parse(JSON.stringify(document))));

const titled = (some: readonly DescribedField[]): [title: string, field: DescribedField][] =>
  some.map((field) => [`${field.name} in the ${field.place} of ${field.operationId}`, field]);

/** What the descriptions say and the words of JSON Schema cannot. */
const asDescribed: Readonly<Record<string, (text: string) => boolean>> = {
  path: (path) => Buffer.byteLength(path.normalize('NFC')) <= 1_024,
  prefix: (prefix) => Buffer.byteLength(prefix) <= 1_024,
  branch: (branch) => Buffer.byteLength(branch) <= 255,
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

/** The delivery's own, as the description says. */
const reserved =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|__proto__|(?:webhook|content|proxy)-.*)$/i;

/** What the schema of the field allows. */
function valuesOf(name: string, schema: FieldSchema): fc.Arbitrary<unknown> {
  const { items, additionalProperties, propertyNames = {}, minimum = 0, maximum, maxProperties = 5 } = schema;
  if (items !== undefined) {
    const { minItems = 0, maxItems = 5 } = schema;
    const item = valuesOf(name === 'branches' ? 'branch' : name, items);
    return fc.uniqueArray(item, { minLength: minItems, maxLength: maxItems });
  }
  if (additionalProperties !== undefined) {
    // Names in which upper and lower case alone differ are the same, as the description says.
    return fc
      .uniqueArray(fc.tuple(textsOf(propertyNames), textsOf(additionalProperties)), {
        maxLength: maxProperties,
        selector: ([header]) => header.toLowerCase(),
      })
      .map((entries) => Object.fromEntries(entries.filter(([header]) => !reserved.test(header))));
  }
  if (maximum !== undefined) return fc.integer({ min: minimum, max: maximum });
  return textsOf(schema).filter(asDescribed[name] ?? (() => true));
}

/** A header has no schema for what cannot be sent in one at all. */
const sendable = ({ place, schema }: DescribedField): FieldSchema =>
  place === 'header' ? { pattern: '^[\\x20-\\x7e]*$', ...schema } : schema;

const a = (length: number): string => 'a'.repeat(length);

/** Of each limit of the schema, what is just beyond it. */
function beyond(name: string, schema: FieldSchema): [limit: string, value: unknown][] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, items } = schema;
  const { propertyNames, additionalProperties } = schema;
  const headers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a']));
  const long = (limit: number): string =>
    name === 'url' ? `https://ci.example.com/${a(limit)}`.slice(0, limit) : a(limit);
  return [
    ...(minLength === 1 ? [['minLength', '']] : []),
    ...(maxLength === undefined ? [] : [['maxLength', long(maxLength + 1)]]),
    ...(minimum === undefined ? [] : [['minimum', minimum - 1]]),
    ...(maximum === undefined ? [] : [['maximum', maximum + 1]]),
    ...(minItems === 1 ? [['minItems', []]] : []),
    ...(maxItems === undefined ? [] : [['maxItems', Array(maxItems + 1).fill(items?.enum?.[0] ?? 'main')]]),
    ...(maxProperties === undefined ? [] : [['maxProperties', headers(maxProperties + 1)]]),
    ...(propertyNames?.maxLength === undefined ? [] : [['propertyNames', { [a(propertyNames.maxLength + 1)]: 'a' }]]),
    ...(additionalProperties?.maxLength === undefined
      ? []
      : [['additionalProperties', { 'x-a': a(additionalProperties.maxLength + 1) }]]),
    ...(items?.maxLength === undefined ? [] : [['items', [a(items.maxLength + 1)]]]),
  ] as [string, unknown][];
}

/** Never refused for their form: what they do not say is as if they were not there, or matches no lock. */
const neverRefused = ['Prefer', 'If-Match', 'Referer'];

/** What cannot be the name of a thing is 404, like the name of none. */
const isName = ({ place, name }: DescribedField): boolean => place === 'path' && name !== 'path';

/** Only what the service itself has written is one. */
const isOpaque = ({ name }: DescribedField): boolean => name === 'cursor';

const limited = fields.filter(({ name }) => !neverRefused.includes(name));

describe.each(anyDatabase)('what the OpenAPI document says of requests is what the service takes', (kind) => {
  let service: RunningService;
  let token: string;
  let workspace: string;

  beforeAll(async () => {
    const resolve = () => Promise.reject(new Error('No name resolves here.'));
    service = await startTestService(kind, { resolve });
    token = (await service.token()).secret;
    workspace = await service.workspace();
  });
  afterAll(() => service.stop());

  /** A request that is right but for what this field may be wrong in. */
  function send({ operationId, place, name }: DescribedField, value: unknown): Promise<Reply> {
    const operation = expectedOperations.find((expected) => expected.operationId === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
    const { method, path, body } = operation;
    const inPath: Readonly<Record<string, string>> = { id: workspace, path: 'free', sync_id: 'sync_1' };
    const address = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
      encodeURIComponent(place === 'path' && parameter === name ? String(value) : (inPath[parameter] ?? '')),
    );
    const query = place === 'query' ? `?${name}=${encodeURIComponent(String(value))}` : '';
    const json =
      body === undefined
        ? undefined
        : {
            ...body,
            ...(operationId === 'acquireLock' && { path: randomUUID() }),
            ...(place === 'body' && { [name]: value }),
          };
    const headers = place === 'header' ? { [name]: String(value) } : {};
    return service.ask(method, address + query, { token, headers, ...(json !== undefined && { json }) });
  }

  const fieldsRefusedBy = ({ body, status }: Reply): string[] =>
    status === 422 ? (body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer.split('/')[1]) : [];

  test('each field has a limit, or is one of some words', () => {
    const unlimited = fields.filter(({ schema, name }) => {
      const { enum: values, pattern, maxLength, maximum, maxItems, maxProperties } = schema;
      return (
        name !== 'If-Match' && (values ?? pattern ?? maxLength ?? maximum ?? maxItems ?? maxProperties) === undefined
      );
    });
    expect(titled(unlimited).map(([title]) => title)).toEqual([]);
  });

  test.each(titled(fields.filter((field) => !isOpaque(field))))(
    'what it allows is taken: %s',
    async (_title, field) => {
      const property = fc.asyncProperty(valuesOf(field.name, sendable(field)), async (value) => {
        const answer = await send(field, value);
        expect(answer.status).not.toBe(400);
        expect(fieldsRefusedBy(answer)).not.toContain(field.name);
      });
      await fc.assert(property, { numRuns: runs(6, 100) });
    },
  );

  test.each(titled(limited))('what is just beyond its limits is refused: %s', async (_title, field) => {
    for (const [limit, value] of beyond(field.name, field.schema)) {
      // An address with nothing at this place is that of something else.
      if (field.place === 'path' && value === '') continue;
      const answer = await send(field, value);
      if (isName(field)) {
        expectProblem(answer, 'not-found');
      } else {
        expectProblem(answer, 'invalid-request');
        expect(fieldsRefusedBy(answer), limit).toEqual([field.name]);
      }
    }
  });

  const shaped = limited.filter(
    ({ place, schema: { pattern, not } }) => (place === 'body' || place === 'query') && (pattern ?? not) !== undefined,
  );

  test.each(titled(shaped))('what its patterns do not allow is refused: %s', async (_title, field) => {
    const texts = fc.oneof(pathMess, fc.string()).filter((text) => text.isWellFormed() && !allows(field.schema, text));
    const property = fc.asyncProperty(texts, async (text) => {
      const answer = await send(field, text);
      expectProblem(answer, 'invalid-request');
      expect(fieldsRefusedBy(answer)).toEqual([field.name]);
    });
    await fc.assert(property, { numRuns: runs(20, 200) });
  });
});

test('what has a default, or may be left out, is not required', () => {
  const optional = fields.filter(({ required }) => !required).map(({ place, name }) => `${place} ${name}`);
  expect([...new Set(optional)].sort()).toEqual([
    'body branches',
    'body events',
    'body format',
    'body headers',
    'body secret',
    'header Idempotency-Key',
    'header If-Match',
    'header Prefer',
    'header Referer',
    'query cursor',
    'query force',
    'query limit',
    'query path',
    'query prefix',
  ]);
});
