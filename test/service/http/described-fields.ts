import { z } from 'zod';
import type { openApiDocument } from './openapi-rules.ts';

/** The words of a schema that limit a text, a list or a number. */
const fieldSchema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  minimum: z.int().optional(),
  maximum: z.int().optional(),
  minItems: z.int().optional(),
  maxItems: z.int().optional(),
  maxProperties: z.int().optional(),
  not: z.object({ pattern: z.string() }).optional(),
  get items() {
    return fieldSchema.optional();
  },
  get propertyNames() {
    return fieldSchema.optional();
  },
  get additionalProperties() {
    return fieldSchema.optional();
  },
});

export type FieldSchema = z.output<typeof fieldSchema>;

export interface DescribedField {
  readonly operationId: string;
  readonly place: 'body' | 'query' | 'header' | 'path';
  readonly name: string;
  readonly required: boolean;
  readonly schema: FieldSchema;
}

const bodySchema = z.object({
  required: z.array(z.string()),
  properties: z.record(z.string(), fieldSchema),
});

/** Every part of a request that the document has a schema for. */
export function describedFields(document: z.output<typeof openApiDocument>): DescribedField[] {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return operations.flatMap(({ operationId, parameters = [], requestBody }): DescribedField[] => {
    const inParameters = parameters.map(({ in: place, name, required, schema }) => ({
      operationId,
      place,
      name,
      required,
      schema: fieldSchema.parse(schema),
    }));
    const { schema } = requestBody?.content['application/json'] ?? {};
    if (schema === undefined) return inParameters;
    const named = '$ref' in schema ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;
    const { properties, required } = bodySchema.parse(named);
    const inBody = Object.entries(properties).map(([name, field]) => ({
      operationId,
      place: 'body' as const,
      name,
      required: required.includes(name),
      schema: field,
    }));
    return [...inParameters, ...inBody];
  });
}
