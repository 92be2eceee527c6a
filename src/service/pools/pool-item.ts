import { z } from '@hono/zod-openapi';
import { canonicalLockPath, type LockPath, parseNote } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { PoolItem } from '../../interface/resources.ts';
import { parsedBy } from '../contract/request-fields.ts';

/** An item with the values of all its properties, including secret ones. */
export interface NewPoolItem extends PoolItem {
  readonly path: LockPath;
}

/** Parses items as JSON, in the format of the API. The reason does not quote the JSON, which may contain secrets. */
export function parsePoolItems(json: string): Parsed<readonly NewPoolItem[]> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return refused('They must be JSON.');
  }
  const items = itemsSchema.safeParse(value);
  if (items.success) return accepted(items.data);
  const [issue] = items.error.issues;
  const location = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return refused(`${location}${issue?.message ?? 'It must be a list of items.'}`);
}

const itemsSchema = z.array(
  z
    .object({
      path: z.string(),
      properties: z.record(z.string(), z.string()).default({}),
      secret: z.array(z.string()).default([]),
    })
    .transform(parsedBy(parsePoolItem)),
);

export const maxProperties = 20;
export const maxPropertyNameLength = 64;

const propertyName = new RegExp(`^[a-z][a-z0-9_-]{0,${maxPropertyNameLength - 1}}$`);

/** The reason contains the path and the name of the property, but never a value, which may be secret. */
function parsePoolItem({ path: text, properties, secret }: PoolItem): Parsed<NewPoolItem> {
  const path = canonicalLockPath(text);
  if (!path.ok) return refused(`${JSON.stringify(text.slice(0, 100))}: ${path.reason}`);
  const wrong = (reason: string) => refused(`The item ${JSON.stringify(path.value)}: ${reason}`);
  const entries = Object.entries(properties);
  if (entries.length > maxProperties) return wrong(`It has more than ${maxProperties} properties.`);
  const kept: [string, string][] = [];
  for (const [name, entered] of entries) {
    if (!propertyName.test(name)) {
      return wrong(
        `A property name has 1 to ${maxPropertyNameLength} lower-case letters, digits, dashes and underscores, and starts with a letter.`,
      );
    }
    const value = parseNote(entered);
    if (!value.ok) return wrong(`The value of the property ${name} cannot be used. ${value.reason}`);
    if (value.value === null) return wrong(`The property ${name} has no value.`);
    kept.push([name, value.value]);
  }
  const unset = secret.find((name) => !Object.hasOwn(properties, name));
  if (unset !== undefined) return wrong(`The secret property ${JSON.stringify(unset.slice(0, 100))} has no value.`);
  return accepted({ path: path.value, properties: Object.fromEntries(kept), secret: [...new Set(secret)] });
}
