import { z } from '@hono/zod-openapi';
import { hookEvents, hookFormats } from '../../interface/resources.ts';
import { invalid } from '../contract/problem.ts';
import { branchField, parsedBy } from '../contract/request-fields.ts';
import { hookSchema } from '../contract/schemas.ts';
import { checkTarget, maxUrlLength } from '../outbound/target.ts';
import type { TargetCheck } from '../outbound/target-address.ts';
import {
  type ExtraHeaders,
  maxHeaderNameLength,
  maxHeaders,
  maxHeaderValueLength,
  namePattern,
  parseExtraHeaders,
  reservedHeadersText,
  unsafeHeaderText,
  unsafeName,
  valuePattern,
} from './extra-headers.ts';
import { parseSecret, secretPattern } from './signature.ts';

export const createdHookSchema = hookSchema
  .extend({
    secret: z.string().optional().openapi({ description: 'Only if none was given. It is never shown again.' }),
  })
  .openapi('CreatedHook');

const maxBranches = 100;

// A separate object, because the schema type lacks this keyword, which OpenAPI 3.0 did not have.
const propertyNames = { propertyNames: { maxLength: maxHeaderNameLength, pattern: namePattern.source } };

export const hookRequestSchema = z
  .object({
    url: z.string().openapi({
      maxLength: maxUrlLength,
      format: 'uri',
      pattern: '^https?://',
      description:
        'Without user name, password and fragment. http only into a network that the operator of the service allows.',
      example: 'https://ci.example.com/hooks/workspace',
    }),
    events: z
      .array(z.enum(hookEvents))
      .min(1, 'Name at least one event, or leave the field out.')
      .max(hookEvents.length, 'Name each event once.')
      .default(['sync.succeeded']),
    branches: z
      .array(branchField)
      .min(1, 'Name at least one branch, or leave the field out for all.')
      .max(maxBranches, `A hook names at most ${maxBranches} branches. Leave the field out for all.`)
      .nullable()
      .default(null)
      .openapi({ description: 'Only syncs of these branches; all if absent. Other events have no branch.' }),
    secret: z.string().transform(parsedBy(parseSecret)).optional().openapi({
      type: 'string',
      pattern: secretPattern.source,
      description: 'whsec_ and base64 of 24 to 64 bytes; created if absent.',
    }),
    format: z.enum(hookFormats).default('standard'),
    headers: z
      .preprocess(checkAllHeaders, z.record(z.string(), z.string()).transform(parsedBy(parseExtraHeaders)))
      .default({} as ExtraHeaders) // Same as the result of parseExtraHeaders() without headers.
      .openapi({
        type: 'object',
        default: {},
        maxProperties: maxHeaders,
        ...propertyNames,
        additionalProperties: { type: 'string', maxLength: maxHeaderValueLength, pattern: valuePattern.source },
        description: `Sent with each delivery. Names are case-insensitive. Reserved: ${reservedHeadersText}.`,
      }),
  })
  .openapi('HookRequest');

/** Request as parsed by the schema. */
type HookRequest = z.output<typeof hookRequestSchema>;

/** Returns the request with its URL as deliveries use it, if they may go there. */
export async function checkHookUrl(
  request: HookRequest,
  targets: TargetCheck,
  workspace: string,
): Promise<HookRequest> {
  const target = await checkTarget(request.url, targets, workspace);
  if (!target.ok) throw invalid({ pointer: '#/url', detail: target.reason });
  return { ...request, url: target.value.href };
}

/**
 * Checks the number of headers before each header: errors for a hundred thousand headers would take a second. Also
 * checks for the unsafe name, because the record of zod silently drops a member with this name.
 */
function checkAllHeaders(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if (Object.keys(given).length > maxHeaders) {
    context.addIssue({ code: 'custom', message: `A hook has at most ${maxHeaders} headers of its own.` });
    return z.NEVER;
  }
  if (Object.hasOwn(given, unsafeName)) context.addIssue({ code: 'custom', message: unsafeHeaderText });
  return given;
}
