import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

/** Parses the parts of a workflow that the runner in this folder supports. The language service checks the rest. */

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const values = z.record(z.string(), scalar);
const defaults = z
  .looseObject({ run: z.looseObject({ shell: z.string(), 'working-directory': z.string() }).partial().optional() })
  .optional();

const step = z.strictObject({
  id: z.string().optional(),
  name: scalar.optional(),
  if: scalar.optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  shell: z.string().optional(),
  'working-directory': scalar.optional(),
  with: values.default({}),
  env: values.default({}),
  'continue-on-error': scalar.default(false),
  'timeout-minutes': scalar.optional(),
});

const job = z.looseObject({
  if: scalar.optional(),
  needs: z.union([z.string(), z.array(z.string())]).default([]),
  permissions: z.unknown().optional(),
  'timeout-minutes': scalar.optional(),
  env: values.default({}),
  defaults,
  outputs: values.default({}),
  uses: z.string().optional(),
  with: values.default({}),
  secrets: z.union([z.string(), values]).default({}),
  steps: z.array(step).default([]),
});

const input = z.looseObject({
  type: z.enum(['boolean', 'number', 'string', 'choice', 'environment']).default('string'),
  description: z.string().optional(),
  required: z.boolean().default(false),
  default: scalar.optional(),
});

const call = z.looseObject({
  inputs: z.record(z.string(), input).default({}),
  secrets: z
    .record(z.string(), z.looseObject({ description: z.string().optional(), required: z.boolean().default(false) }))
    .default({}),
  outputs: z.record(z.string(), z.looseObject({ description: z.string().optional(), value: scalar })).default({}),
});

const events = z.looseObject({ workflow_call: call.nullish(), workflow_dispatch: call.partial().nullish() });

const workflow = z.looseObject({
  name: z.string().optional(),
  on: z.union([
    z.string().transform((): z.infer<typeof events> => ({})),
    z.array(z.string()).transform((): z.infer<typeof events> => ({})),
    events,
  ]),
  permissions: z.unknown().optional(),
  env: values.default({}),
  defaults,
  jobs: z.record(z.string(), job),
});

export type Workflow = z.infer<typeof workflow>;
export type WorkflowJob = z.infer<typeof job>;
export type WorkflowStep = z.infer<typeof step>;
export type WorkflowInput = z.infer<typeof input>;

export const parseWorkflow = (text: string): Workflow => workflow.parse(parse(text));

/** The path of a workflow such as `ci.yml`. */
export const workflowFile = (name: string): string =>
  fileURLToPath(new URL(`../../../.github/workflows/${name}`, import.meta.url));

/** Reads a workflow in `.github/workflows/` by its file name. */
export const readWorkflow = async (name: string): Promise<Workflow> =>
  parseWorkflow(await readFile(workflowFile(name), 'utf8'));
