import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import type * as resources from '../interface/resources.ts';
import type { WorkspaceId } from './access.ts';
import { asObject, isArray, type Json, nameIn } from './json.ts';
import { entriesIn } from './pages.ts';
import { expectFound, isUnknownRoute } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import type { ClientResponse } from './response.ts';

export interface PoolItem extends resources.PoolItem {
  readonly path: LockPath;
}

export const createGetPool =
  ({ call, endpoints }: ClientContext) =>
  /** Throws a ServiceError, also for an unknown pool. */
  async ({ workspace, name }: { readonly workspace: WorkspaceId; readonly name: string }, within: CallLimits) => {
    const target = endpoints.pool(workspace, name);
    const result = await call({ method: 'GET', target, expect, isOptional: true }, within);
    if (result.kind === 'answered' && isUnknownRoute(result.response)) {
      return { kind: 'unsupported', error: result.refusal() } as const;
    }
    const { response } = expectSuccess(result);
    return { kind: 'found', items: (itemsIn(response) ?? []).flatMap(readItem) } as const;
  };

const itemsIn = (response: ClientResponse): readonly Json[] | undefined => entriesIn(response, 'items');

/** Its content could have secrets. */
const expect = expectFound(itemsIn, 'it contains no items of a pool');

function readItem(entry: Json): readonly PoolItem[] {
  const { path, properties, secret } = asObject(entry);
  const parsed = parseLockPath(nameIn(path) ?? '');
  if (!parsed.ok) return [];
  const values = Object.entries(asObject(properties)).flatMap(([name, value]) => {
    const text = nameIn(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return [{ path: parsed.value, properties: Object.fromEntries(values), secret: secretNames(secret, values) }];
}

/** With unreadable names, all properties are secret. */
function secretNames(secret: Json | undefined, properties: readonly (readonly [name: string, value: string])[]) {
  if (secret === undefined) return [];
  const isReadable = isArray(secret) && secret.every((name) => typeof name === 'string');
  return isReadable ? secret : properties.map(([name]) => name);
}
