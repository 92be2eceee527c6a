import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import type * as resources from '../interface/resources.ts';
import type { WorkspaceId } from './access.ts';
import { asObject, firstName, isArray, isObject, type Json, nameIn } from './json.ts';
import { entriesIn } from './pages.ts';
import { notUnderstood, unusable } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess, type Request } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';
import { ifSupported } from './service-error.ts';

export interface PoolItem extends resources.PoolItem {
  readonly path: LockPath;
}

export const createGetPool =
  ({ call, endpoints }: ClientContext) =>
  /** Throws a ServiceError, also for an unknown pool. */
  async ({ workspace, name }: { readonly workspace: WorkspaceId; readonly name: string }, within: CallLimits) => {
    const result = call({ method: 'GET', target: endpoints.pool(workspace, name), expect }, within);
    return ifSupported(
      result.then(expectSuccess).then(({ response }) => {
        return { kind: 'found' as const, items: (itemsIn(response) ?? []).flatMap(readItem) };
      }),
    );
  };

/** Without the content, which could have secrets. */
const expect: Request['expect'] = (response) => {
  const wrong = unusable(response);
  if (wrong !== undefined) return { ...wrong, content: '' };
  return itemsIn(response) === undefined ? notUnderstood(response, 'it contains no items of a pool') : undefined;
};

function itemsIn(response: ClientResponse): readonly Json[] | undefined {
  const items = asObject(objectIn(response)['pool'])['items'];
  return isArray(items) ? items : entriesIn(response, 'items');
}

function readItem(entry: Json): readonly PoolItem[] {
  const path = parseLockPath((typeof entry === 'string' ? entry : firstName(asObject(entry), ['path', 'name'])) ?? '');
  if (!path.ok) return [];
  const { properties, secret } = asObject(entry);
  const values = Object.entries(asObject(properties)).flatMap(([name, value]) => {
    const text = typeof value === 'boolean' ? String(value) : nameIn(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  const names = isArray(secret) ? secret : isObject(secret) ? Object.keys(secret) : [];
  return [
    {
      path: path.value,
      properties: Object.fromEntries(values),
      secret: names.filter((name) => typeof name === 'string'),
    },
  ];
}
