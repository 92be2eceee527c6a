import { z } from 'zod';

/** What OpenAPI 3.1.0 demands of the parts that the document uses, and nothing beyond them: a slip in a name fails. */
const example = z.unknown().optional();
const text = z.string().min(1);
/** In words that every language has: no look-around, no classes by name, nothing remembered (JSON Schema, section 6.4). */
const regularExpression = z
  .string()
  .refine((pattern) => new RegExp(pattern, 'u') && !/\(\?[^:]|\\[pPk\d]/.test(pattern));
const reference = z.strictObject({ $ref: z.string().regex(/^#\/components\/schemas\/\w+$/) });
const typeName = z.enum(['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']);

/** The words of JSON Schema 2020-12 that are used; `nullable` of OpenAPI 3.0 is none of them. */
const schema = z.union([
  reference,
  z.strictObject({
    type: z.union([typeName, z.array(typeName).min(2)]).optional(),
    description: text.optional(),
    format: z.enum(['date-time', 'uri']).optional(),
    example,
    default: z.unknown().optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    pattern: regularExpression.optional(),
    minLength: z.int().optional(),
    maxLength: z.int().optional(),
    minimum: z.int().optional(),
    maximum: z.int().optional(),
    minItems: z.int().optional(),
    maxItems: z.int().optional(),
    maxProperties: z.int().optional(),
    required: z.array(z.string()).min(1).optional(),
    get items() {
      return schema.optional();
    },
    get properties() {
      return z.record(z.string(), schema).optional();
    },
    get not() {
      return schema.optional();
    },
    get propertyNames() {
      return schema.optional();
    },
    get additionalProperties() {
      return schema.optional();
    },
    get allOf() {
      return z.array(schema).min(1).optional();
    },
  }),
]);

const content = z.record(z.string().regex(/^\w+\/[\w+.-]+$/), z.strictObject({ schema }));

const parameter = z.discriminatedUnion('in', [
  z.strictObject({
    in: z.literal('path'),
    name: text,
    required: z.literal(true),
    schema,
    description: text.optional(),
  }),
  z.strictObject({
    in: z.enum(['query', 'header']),
    name: text,
    required: z.boolean(),
    schema,
    description: text.optional(),
  }),
]);

/** Without a parameter's `name` and `in`. */
const header = z.strictObject({ description: text, required: z.boolean(), schema });
const headerReference = z.strictObject({ $ref: z.string().regex(/^#\/components\/headers\/[\w-]+$/) });

/** OpenAPI ignores one for the type of the content. */
const headers = z.record(z.string().regex(/^(?!Content-Type$)[A-Z][A-Za-z-]*$/), z.union([headerReference, header]));

const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z]\w+$/),
  summary: text,
  description: text.optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameter).optional(),
  requestBody: z.strictObject({ required: z.literal(true), content }).optional(),
  responses: z.record(
    z.string().regex(/^([1-5]\d\d|default)$/),
    z.strictObject({ description: text, headers, content: content.optional() }),
  ),
});

export const openApiDocument = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: text, version: text, description: text, license: z.strictObject({ name: text }) }),
  servers: z.array(z.strictObject({ url: text })).min(1),
  components: z.strictObject({
    securitySchemes: z.record(
      z.string(),
      z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer'), description: text }),
    ),
    schemas: z.record(z.string(), schema),
    headers: z.record(z.string(), header),
    parameters: z.record(z.string(), z.unknown()),
  }),
  webhooks: z.strictObject({}),
  paths: z.record(z.string().startsWith('/'), z.partialRecord(z.enum(['get', 'post', 'delete']), operation)),
});
